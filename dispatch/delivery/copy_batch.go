package delivery

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"vayu/internal/columnstore"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

// copied is an attempt, with those columns of its delivery and event that are copied to ClickHouse.
type copied struct {
	id, event, kind, webhook, account, retryOf, fault string
	world                                             schema.World
	stage                                             schema.Stage
	number, at, duration, status, body, recorded      int64
}

// selectCopied is the start of a query of attempts by the index attempt_recorded. copiedRange selects the attempts in a
// time range, in order. copiedMoment selects all attempts with one timestamp.
const (
	selectCopied = `SELECT a.delivery_id, a.number, d.event_id, e.type, d.webhook_id, d.account_id, d.mode, d.retry_of, a.at, a.duration, a.stage, a.http_status, a.error, length(a.body), a.recorded_at
		FROM attempt a JOIN delivery d ON d.id = a.delivery_id JOIN event e ON e.id = d.event_id `
	copiedRange  = "WHERE a.recorded_at > $1 AND a.recorded_at <= $2 ORDER BY a.recorded_at LIMIT $3"
	copiedMoment = "WHERE a.recorded_at = $1"
)

func scanCopied(row sqlstore.Scanner) (a copied, err error) {
	var mode string
	err = row.Scan(&a.id, &a.number, &a.event, &a.kind, &a.webhook, &a.account, &mode, &a.retryOf, &a.at, &a.duration, &a.stage, &a.status, &a.fault, &a.body, &a.recorded)
	a.world = schema.WorldOf(mode)
	return a, err
}

// nextBatch returns the next batch of attempts that were recorded up to the time `until`. Attempts with the same timestamp
// are in one batch, because the following batch starts after that timestamp.
func (c *Copier) nextBatch(ctx context.Context, until int64) ([]copied, error) {
	view := c.DB.View(ctx)
	all, err := sqlstore.All(view, scanCopied, selectCopied+copiedRange, c.after, until, c.most+1)
	if err != nil {
		return nil, fmt.Errorf("reading attempts to copy: %w", err)
	}
	n := whole(all, c.most)
	if n == 0 && len(all) > 0 { // one timestamp has more attempts than fit in a batch
		all, err = sqlstore.All(view, scanCopied, selectCopied+copiedMoment, all[0].recorded)
		if err != nil {
			return nil, fmt.Errorf("reading attempts to copy: %w", err)
		}
		n = len(all)
	}
	return all[:n], nil
}

// whole returns how many attempts at the start of the list form the next batch. A batch has at most `most` attempts
// and spans at most copyWindow. Attempts with the same timestamp are not separated, so that the next batch can start
// after that timestamp. If more than `most` attempts have the first timestamp, whole returns 0.
func whole(all []copied, most int) int {
	n := len(all)
	if n > most {
		for n--; n > 0 && all[n-1].recorded == all[len(all)-1].recorded; {
			n--
		}
	}
	for n > 0 && all[n-1].recorded-all[0].recorded > copyWindow.Microseconds() {
		n--
	}
	return n
}

// copiedColumns are the columns of an insert. ClickHouse converts these types to those of the table.
var copiedColumns = []clickhouse.ColumnNameAndType{
	{Name: "delivery_id", Type: "String"},
	{Name: "number", Type: "UInt8"},
	{Name: "event_id", Type: "String"},
	{Name: "event_type", Type: "String"},
	{Name: "webhook_id", Type: "String"},
	{Name: "account_id", Type: "String"},
	{Name: "retry_of", Type: "String"},
	{Name: "at", Type: "DateTime64(6, 'UTC')"},
	{Name: "duration", Type: "UInt64"},
	{Name: "stage", Type: "String"},
	{Name: "http_status", Type: "UInt16"},
	{Name: "error", Type: "String"},
	{Name: "body_bytes", Type: "UInt16"},
	{Name: "state", Type: "String"},
	{Name: "recorded_at", Type: "DateTime64(6, 'UTC')"},
}

// stageNone is the value of the ClickHouse column "stage" if the stage of an attempt is empty.
const stageNone = "none"

// columns returns the values of those attempts that belong to a world (live or sandbox), in the order of copiedColumns.
// n is the number of these attempts.
func columns(world schema.World, batch []copied) (all []any, n int) {
	var ids, events, kinds, webhooks, accounts, retries, faults, stages, states []string
	var numbers []uint8
	var at, recorded []time.Time
	var durations []uint64
	var statuses, bodies []uint16
	for _, a := range batch {
		if a.world != world {
			continue
		}
		n++
		ids, events, kinds = append(ids, a.id), append(events, a.event), append(kinds, a.kind)
		webhooks, accounts, retries = append(webhooks, a.webhook), append(accounts, a.account), append(retries, a.retryOf)
		numbers, faults, stages = append(numbers, uint8(a.number)), append(faults, a.fault), append(stages, cmp.Or(string(a.stage), stageNone))
		at, durations, recorded = append(at, time.UnixMicro(a.at)), append(durations, uint64(max(a.duration, 0))), append(recorded, time.UnixMicro(a.recorded))
		statuses, bodies = append(statuses, uint16(a.status)), append(bodies, uint16(a.body))
		ok := a.status >= 200 && a.status < 300
		states = append(states, string(AfterAttempt(int(a.number), ok, time.Time{}).State))
	}
	return []any{ids, numbers, events, kinds, webhooks, accounts, retries, at, durations, stages, statuses, faults, bodies, states, recorded}, n
}

// store inserts the attempts of a batch that belong to a world.
func (c *Copier) store(ctx context.Context, world schema.World, batch []copied) error {
	values, n := columns(world, batch)
	if n == 0 {
		return nil
	}
	if err := columnstore.Insert(ctx, c.Conn, c.Database(world)+".attempt", columnstore.NewToken(), copiedColumns, values); err != nil {
		return fmt.Errorf("copying %d attempts to %s: %w", n, world, err)
	}
	return nil
}
