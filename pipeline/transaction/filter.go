package transaction

import (
	"database/sql"
	"errors"
	"iter"

	"vayu/internal/sqlstore"
	"vayu/schema"
)

// Filter selects rows of an owner.
type Filter struct {
	Owner    schema.Owner
	State    string // "" for all; otherwise a state of the table, because the query has it as a literal
	Ref      string // "" for all
	Batch    string // "" for all
	From, To int64  // microseconds; To is exclusive; math.MinInt64 and math.MaxInt64 for all time
	After    string // next, as Page returned it for the previous page; "" for the first page
	Limit    int
	// Scan bounds the rows read for a state without an index; 0 means 10,000, which takes
	// some milliseconds.
	Scan int
}

// defaultScan is the default of [Filter.Scan].
const defaultScan = 10_000

// scanLimit returns [Filter.Scan], or the default if Scan is 0.
func (f *Filter) scanLimit() int {
	if f.Scan == 0 {
		return defaultScan
	}
	return f.Scan
}

// Page returns the rows of a page, the newest first. Next is the id after which the next
// page begins; "" on the last page. For a state without an index, a page may be short
// without being the last.
func (t *Table[R, P]) Page(q sqlstore.Querier, f Filter) (all []R, next string, err error) {
	if f.Ref != "" && !schema.IsRef(f.Ref) || f.Batch != "" && !schema.IsID(f.Batch) {
		return nil, "", nil // such values match nothing, and not every store accepts them as text
	}
	floor := ""
	switch {
	case f.Batch != "":
		all, err = t.ofBatch(q, &f)
	case t.needsScan(&f):
		text, args := t.floorQuery(&f)
		if err := q.QueryRow(text, args...).Scan(&floor); err != nil && !errors.Is(err, sql.ErrNoRows) {
			return nil, "", err
		}
		fallthrough
	default:
		text, args := t.query(&f, floor)
		all, err = sqlstore.All(q, t.Scan, text, args...)
	}
	if err != nil {
		return nil, "", err
	}
	if len(all) > f.Limit {
		all = all[:f.Limit]
		return all, P(&all[f.Limit-1]).Shared().ID, nil
	}
	return all, floor, nil
}

// needsScan reports whether a filter has a state without an index, and no reference. Such a
// filter may read many rows to find few.
func (t *Table[R, P]) needsScan(f *Filter) bool { return f.Ref == "" && f.State == t.Unindexed }

// ofBatch returns the rows of a batch that match f, the newest first. It stops when it has
// more than f.Limit rows. An owner without this batch gets no rows.
func (t *Table[R, P]) ofBatch(q sqlstore.Querier, f *Filter) ([]R, error) {
	var mine int
	err := q.QueryRow("SELECT 1 FROM batch WHERE id = $1 AND account_id = $2 AND mode = $3", f.Batch, f.Owner.Account, f.Owner.World.String()).Scan(&mine)
	if err != nil {
		if errors.Is(err, sql.ErrNoRows) {
			err = nil
		}
		return nil, err
	}
	ids, err := sqlstore.All(q, scanText, selectSubjects, f.Batch, f.After)
	if err != nil {
		return nil, err
	}
	var all []R
	for some := range chunks(ids, f.Limit+1) {
		found, err := t.byIDs(q, some)
		if err != nil {
			return nil, err
		}
		for _, id := range some {
			if r, ok := found[id]; ok && f.matches(P(&r).Shared(), P(&r).Status()) {
				all = append(all, r)
			}
		}
		if len(all) > f.Limit {
			break
		}
	}
	return all, nil
}

// minChunk is the minimum size of every chunk between the first and the last. Pages of one row
// would otherwise need thousands of queries for a batch.
const minChunk = 500

// chunks splits ids. The first chunk has the size of a page, which is often enough.
func chunks(ids []string, first int) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		for size := first; len(ids) > 0; size = max(size, minChunk) {
			some := ids[:min(len(ids), size)]
			ids = ids[len(some):]
			if !yield(some) {
				return
			}
		}
	}
}

// selectSubjects selects the subjects (transaction ids) of a batch's records below an id, the
// newest first; "" selects all.
const selectSubjects = "SELECT subject FROM batch_item WHERE batch_id = $1 AND subject <> '' AND (subject < $2 OR $2 = '') ORDER BY subject DESC"

func scanText(row sqlstore.Scanner) (text string, err error) {
	err = row.Scan(&text)
	return text, err
}

// matches reports whether a filter matches a row that is known to be in the filter's batch.
func (f *Filter) matches(b *Base, state string) bool {
	at := b.CreatedAt.UnixMicro()
	return b.Owner == f.Owner && (f.State == "" || state == f.State) && (f.Ref == "" || b.RefID == f.Ref) && at >= f.From && at < f.To
}
