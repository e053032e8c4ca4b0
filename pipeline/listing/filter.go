package listing

import (
	"database/sql"
	"errors"
	"iter"
	"math"
	"time"

	"vayu/internal/pagination"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

// Filter is which rows of an owner are asked for.
type Filter struct {
	Owner    schema.Owner
	State    string // "" for all; else one of the table's, because it stands in the statement
	Ref      string // "" for all
	Batch    string // "" for all
	From, To int64  // microseconds; To is not part of it; math.MinInt64 and math.MaxInt64 for all time
	After    string // id of the last of the page before; "" for the first page
	Limit    int
	// Scan is how many are looked at for those that no index finds; 0 for the usual
	// 10,000: some milliseconds, and who has hardly any asks again.
	Scan int
}

// scanMost is the usual [Filter.Scan].
const scanMost = 10_000

// scan is how many are looked at.
func (f *Filter) scan() int {
	if f.Scan == 0 {
		return scanMost
	}
	return f.Scan
}

// Page is what a filter lets through, the newest first, and the id after which the
// next page begins, "" when this is the last. With a state that no index finds, a page
// may be short of its limit and not the last.
func (t *Table[R]) Page(q sqlstore.Querier, f Filter) (all []R, next string, err error) {
	if f.Ref != "" && !schema.IsRef(f.Ref) || f.Batch != "" && !schema.IsID(f.Batch) {
		return nil, "", nil // nothing is called that, and not every store takes it for text
	}
	floor := ""
	switch {
	case f.Batch != "":
		all, err = t.ofBatch(q, &f)
	case t.scans(&f):
		text, args := t.lowest(&f)
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
		return all, t.Of(&all[f.Limit-1]).ID, nil
	}
	return all, floor, nil
}

// scans reports whether a filter asks for what no index finds.
func (t *Table[R]) scans(f *Filter) bool { return f.Ref == "" && f.State == t.Unindexed }

// ofBatch is what a filter lets through of a batch, at least one more than the limit
// when there are so many. The records of a batch are few enough to be looked through at
// once.
func (t *Table[R]) ofBatch(q sqlstore.Querier, f *Filter) ([]R, error) {
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
	for some := range pieces(ids, f.Limit+1) {
		found, err := t.ByID(q, some)
		if err != nil {
			return nil, err
		}
		for _, id := range some {
			if r, ok := found[id]; ok && f.lets(t.Of(&r)) {
				all = append(all, r)
			}
		}
		if len(all) > f.Limit {
			break
		}
	}
	return all, nil
}

// piece is how many records of a batch are read between two looks at whether a page is
// full: were it as many as a page has, pages of one would read a batch in thousands of
// questions.
const piece = 500

// pieces cuts ids. The first are as many as a page needs, which is often all that is
// read, the others at least a piece.
func pieces(ids []string, first int) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		for size := first; len(ids) > 0; size = max(size, piece) {
			some := ids[:min(len(ids), size)]
			ids = ids[len(some):]
			if !yield(some) {
				return
			}
		}
	}
}

// selectSubjects asks for what the records of a batch have become, below an id, the
// newest first; "" is for all.
const selectSubjects = "SELECT subject FROM batch_item WHERE batch_id = $1 AND subject <> '' AND (subject < $2 OR $2 = '') ORDER BY subject DESC"

func scanText(row sqlstore.Scanner) (text string, err error) {
	err = row.Scan(&text)
	return text, err
}

// lets reports whether a filter lets something of its batch through.
func (f *Filter) lets(is Facts) bool {
	at := is.CreatedAt.UnixMicro()
	return is.Owner == f.Owner && (f.State == "" || is.State == f.State) && (f.Ref == "" || is.Ref == f.Ref) && at >= f.From && at < f.To
}

// ids are the first id and the one after the last of what a filter lets through: an
// id holds the millisecond in which its row was made.
func (t *Table[R]) ids(f *Filter) (from, to string) {
	from, to = "", string(t.Prefix[0]+1) // the letter after it is more than every id, in every collation
	if id, ok := pagination.FirstID(t.Prefix, f.From); ok && f.From != math.MinInt64 {
		from = id
	}
	if f.To != math.MaxInt64 {
		if id, ok := pagination.FirstID(t.Prefix, f.To+time.Millisecond.Microseconds()); ok {
			to = id
		}
	}
	if f.After != "" {
		to = min(to, f.After)
	}
	return from, to
}
