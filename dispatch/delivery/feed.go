package delivery

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"vayu/internal/pagination"
	"vayu/internal/sqlstore"
	"vayu/internal/sse"
	"vayu/schema"
)

// Feed finds new and changed deliveries for SSE streams (Server-Sent Events).
type Feed struct{ DB *sqlstore.DB }

// Kinds implements sse.Feed. A Feed has one kind of notices: deliveries.
func (Feed) Kinds() []sse.Kind {
	return []sse.Kind{{Name: schema.LiveDelivery, Scopes: []schema.Scope{schema.WebhooksManage}}}
}

const (
	// liveNew is the maximum number of new deliveries that a poll reads for one group of accounts.
	liveNew = 1000
	// liveMoved is the maximum number of rows that selectTried and selectEnded each read, for all accounts together.
	liveMoved = 10_000
)

const liveColumns = "SELECT d.id, d.webhook_id, d.event_id, d.account_id, d.mode, d.state, d.attempts FROM "

// selectMade reads new deliveries by the index delivery_account. Its values are owners (account and world), each with
// the id at which the owner's new deliveries start. CROSS JOIN fixes the join order in SQLite. There is no ORDER BY,
// because the statement would then read all rows before the LIMIT applies.
var selectMade = sqlstore.NewBatchStatement(1, liveColumns+"(VALUES ", "(?, ?, ?)", `) AS v
	CROSS JOIN delivery d WHERE d.account_id = v.column1 AND d.mode = v.column2 AND d.id >= v.column3 LIMIT $1`)

// These statements find changed deliveries: those with a new attempt (selectTried), and those that have ended
// (selectEnded). Each uses an index that orders the deliveries of all accounts by time.
const (
	selectTried = liveColumns + `(SELECT delivery_id, recorded_at FROM attempt WHERE recorded_at >= $1 ORDER BY recorded_at LIMIT $2) AS a
		JOIN delivery d ON d.id = a.delivery_id ORDER BY a.recorded_at`
	selectEnded = liveColumns + "delivery d WHERE d.finished_at >= $1 AND d.finished_at IS NOT NULL ORDER BY d.finished_at LIMIT $2"
)

// Changes implements sse.Feed. It returns notices of new and changed deliveries.
func (f Feed) Changes(ctx context.Context, asks []sse.Query) (found sse.Result, err error) {
	view := f.DB.View(ctx)
	err = found.Search(&selectMade, asks, liveNew, func(text string, asks []sse.Query) ([]sse.Notice, error) {
		args := []any{liveNew}
		for _, a := range asks {
			first, _ := pagination.FirstID(IDPrefix, a.Since.UnixMicro())
			args = append(args, a.Account, a.World.String(), first)
		}
		return sqlstore.All(view, scanNotice, text, args...)
	})
	if err != nil {
		return sse.Result{}, fmt.Errorf("reading new deliveries: %w", err)
	}
	slices.SortFunc(found.Notices, func(a, b sse.Notice) int { return cmp.Compare(a.ID, b.ID) })
	since, owners := sse.Since(asks)
	for _, text := range []string{selectTried, selectEnded} {
		n := 0
		err := sqlstore.Each(view, func(row sqlstore.Scanner) error {
			n++
			one, err := scanNotice(row)
			if owners[one.Owner] {
				found.Notices = append(found.Notices, one)
			}
			return err
		}, text, since.UnixMicro(), liveMoved)
		if err != nil {
			return sse.Result{}, fmt.Errorf("reading changed deliveries: %w", err)
		}
		if n == liveMoved {
			found.Cut = sse.Owners(asks)
		}
	}
	found.Notices = newest(found.Notices)
	return found, nil
}

// newest returns the last notice of each delivery, at the position of the delivery's first notice. The last notice is
// the newest, because the statements of a poll run one after the other.
func newest(all []sse.Notice) []sse.Notice {
	at := make(map[string]int, len(all))
	out := all[:0]
	for _, n := range all {
		if i, there := at[n.ID]; there {
			out[i] = n
			continue
		}
		at[n.ID] = len(out)
		out = append(out, n)
	}
	return out
}

func scanNotice(row sqlstore.Scanner) (sse.Notice, error) {
	var data schema.LiveDeliveryNotice
	n := sse.Notice{Kind: schema.LiveDelivery, Scope: schema.WebhooksManage}
	var mode string
	err := row.Scan(&data.ID, &data.WebhookID, &data.EventID, &n.Owner.Account, &mode, &data.State, &data.Attempts)
	n.Owner.World, n.ID, n.Data = schema.WorldOf(mode), data.ID, data
	return n, err
}
