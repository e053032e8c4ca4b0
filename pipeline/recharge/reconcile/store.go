package reconcile

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"vayu/internal/sqlstore"
	"vayu/pipeline/recharge/record"
	"vayu/schema"
)

// MaxPending is the age from which a pending recharge needs an investigation.
const MaxPending = 24 * time.Hour

// pageSize limits the rows of a query, so that each query is short.
const pageSize = 500

const columnsOf = "SELECT " + record.Columns + " FROM "

const (
	// selectAbsent selects recharges that a file should have. It uses the index of a provider's references. A
	// reference begins with a recharge id, and ids are sorted by time. So $3 and $4 limit the search to a period.
	selectAbsent = columnsOf + `recharge WHERE mode = $1 AND provider = $2 AND reference > $3 AND reference < $4
		AND created_at >= $5 AND created_at < $6 AND state IN ('success', 'pending') ORDER BY reference LIMIT $7`

	// selectProvider selects the first provider after a given name.
	selectProvider = "SELECT provider FROM recharge WHERE mode = $1 AND provider > $2 ORDER BY provider LIMIT 1"

	// These queries do not filter by world (live or sandbox), so that SQLite uses the partial indexes, which have few
	// rows. With that filter, SQLite would choose an index that begins with the world.
	selectPending = columnsOf + `recharge WHERE state = 'pending' AND (account_id, mode, id) > ($1, $2, $3)
		AND id < $4 AND created_at <= $5 ORDER BY account_id, mode, id LIMIT $6`
	selectAlarms = columnsOf + "recharge WHERE alarm <> '' AND resolved_at IS NULL AND (alarm, id) > ($1, $2) ORDER BY alarm, id LIMIT $3"
)

// The form of these queries decides which index SQLite uses, because without statistics SQLite expects ten rows from a
// lookup in any index. selectByReference joins a list, so that SQLite uses the index of references. With IN, it would
// use an index that begins with the provider, and read all the provider's recharges. selectByID does not filter by
// mode, so that SQLite uses the primary key. With such a filter, it would read all recharges of the mode.
var (
	selectByReference = sqlstore.NewBatchStatement(2, columnsOf+"(VALUES ", "(?)", ") AS w CROSS JOIN recharge WHERE mode = $1 AND provider = $2 AND reference = w.column1")
	selectByID        = sqlstore.NewBatchStatement(0, columnsOf+"recharge WHERE id IN (", "?", ")")
)

// find looks up recharges by `names`, which are references or ids. `fixed` holds the first arguments of the
// statement. The function `key` returns a recharge's key in the result.
func find(q sqlstore.Querier, statement *sqlstore.BatchStatement, fixed []any, names []string, key func(*record.Record) string) (map[string]*record.Record, error) {
	found := map[string]*record.Record{}
	err := statement.Each(len(names), func(text string, from, to int) error {
		args := slices.Clone(fixed)
		for _, name := range names[from:to] {
			args = append(args, name)
		}
		return sqlstore.Each(q, func(row sqlstore.Scanner) error {
			r, err := record.Table.Scan(row)
			found[key(&r)] = &r
			return err
		}, text, args...)
	})
	if err != nil {
		return nil, fmt.Errorf("looking up recharges: %w", err)
	}
	return found, nil
}

// idOf returns the recharge id in a reference. The reference of a second order has a suffix after the id (txn_…-2).
func idOf(reference string) string {
	id, _, _ := strings.Cut(reference, "-")
	return id
}

// clockMargin is the maximum difference between the time in a recharge id and the creation time in the recharge's row.
const clockMargin = time.Second

// idsFrom returns a string that sorts before every id created in the millisecond of the given time
// or later. The string sorts after every id of an earlier millisecond.
func idsFrom(at time.Time) string {
	var id ulid.ULID
	ms := max(at.UnixMilli(), 0)
	_ = id.SetTime(min(uint64(ms), ulid.MaxTime())) // the time is in range
	const timePart = 10                             // characters of the time in a ULID
	return record.Table.Prefix + id.String()[:timePart]
}

// Providers returns the names of all providers with recharges in a world (live or sandbox).
func Providers(q sqlstore.Querier, world schema.World) ([]string, error) {
	var names []string
	for last := ""; ; {
		next, err := sqlstore.All(q, sqlstore.Scalar[string], selectProvider, world.String(), last)
		if err != nil {
			return nil, fmt.Errorf("listing providers: %w", err)
		}
		if len(next) == 0 {
			return names, nil
		}
		last = next[0]
		names = append(names, last)
	}
}

// Entry is a recharge that needs an investigation.
type Entry struct {
	record.Record

	Why string // "pending", or the alarm of the recharge
}

// List calls `tell` for each recharge of the given worlds that needs an investigation. First come the recharges that
// are pending for MaxPending or longer, sorted by account. Then come the recharges with an open alarm. If `tell` fails,
// List returns the error of `tell`.
func List(ctx context.Context, db *sqlstore.DB, worlds []schema.World, now time.Time, tell func(Entry) error) error {
	one := func(r *record.Record, why string) error {
		if !slices.Contains(worlds, r.Owner.World) {
			return nil
		}
		return tell(Entry{*r, why})
	}
	old := now.Add(-MaxPending)
	err := pages(db.View(ctx), selectPending, func(last *record.Record) []any {
		return []any{last.Owner.Account, last.Owner.World.String(), last.ID, idsFrom(old.Add(clockMargin)), old.UnixMicro(), pageSize}
	}, func(r *record.Record) error { return one(r, string(r.State)) })
	if err != nil {
		return err
	}
	return pages(db.View(ctx), selectAlarms, func(last *record.Record) []any { return []any{last.Alarm, last.ID, pageSize} },
		func(r *record.Record) error { return one(r, r.Alarm) })
}

// pages calls `tell` for each recharge that a query returns, page by page. The function `args` returns the arguments of
// the query for the page after the recharge `last`, which is zero for the first page.
func pages(view sqlstore.View, query string, args func(last *record.Record) []any, tell func(*record.Record) error) error {
	var last record.Record
	for {
		page, err := sqlstore.All(view, record.Table.Scan, query, args(&last)...)
		if err != nil {
			return fmt.Errorf("listing recharges: %w", err)
		}
		for i := range page {
			if err := tell(&page[i]); err != nil {
				return err
			}
		}
		if len(page) < pageSize {
			return nil
		}
		last = page[len(page)-1]
	}
}
