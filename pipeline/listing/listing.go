// Package listing is how the transactions of an account are listed: recharges,
// verifications. The newest are first, a page at a time, by an index whatever is asked
// for. What is listed has a table of the same shape: ids of a prefix and a ULID, and
// the columns account_id, mode, id, state, ref_id and created_at, with an index of the
// first three, one of them for each state but the most frequent, and UNIQUE
// (account_id, mode, ref_id).
package listing

import (
	"time"

	"vayu/internal/sqlstore"
	"vayu/schema"
)

// Table is what is listed, a row of it read as an R.
type Table[R any] struct {
	Name    string // "recharge"
	Columns string // as Scan reads them
	Prefix  string // of ids, in lower case: "txn_"
	// Unindexed is the state that has no index of its own. Most are in it: an index of
	// those would be written for nearly every row, and find little more than that of
	// all.
	Unindexed string
	// Scan reads a row of Columns.
	Scan func(sqlstore.Scanner) (R, error)
	// Of is what a filter looks at.
	Of func(*R) Facts
}

// Facts are what a filter looks at.
type Facts struct {
	ID        string
	Owner     schema.Owner
	State     string
	Ref       string // "" for none
	CreatedAt time.Time
}

// ByID returns rows by their ids, whosever they are; those that there are none of
// are missing.
func (t *Table[R]) ByID(q sqlstore.Querier, ids []string) (map[string]R, error) {
	found := make(map[string]R, len(ids))
	many := t.byID()
	err := many.Each(len(ids), func(text string, from, to int) error {
		args := make([]any, 0, to-from)
		for _, id := range ids[from:to] {
			args = append(args, id)
		}
		return sqlstore.Each(q, func(row sqlstore.Scanner) error {
			r, err := t.Scan(row)
			found[t.Of(&r).ID] = r
			return err
		}, text, args...)
	})
	return found, err
}

// OfBatch returns what the records of a batch from one index up to another have become,
// by their ids, whosever they are.
func (t *Table[R]) OfBatch(q sqlstore.Querier, batch string, from, to int) (map[string]R, error) {
	found := make(map[string]R, to-from)
	err := sqlstore.Each(q, func(row sqlstore.Scanner) error {
		r, err := t.Scan(row)
		found[t.Of(&r).ID] = r
		return err
	}, t.ofRecords(), batch, from, to)
	return found, err
}

// ofRecords asks for what records of a batch have become: one statement, because that of
// many ids has to be read by the engine for each few of them.
func (t *Table[R]) ofRecords() string {
	return "SELECT " + t.Columns + " FROM " + t.Name + " WHERE id IN (SELECT subject FROM batch_item WHERE batch_id = $1 AND place >= $2 AND place < $3)"
}

// byID asks for many by their ids.
func (t *Table[R]) byID() sqlstore.Grouped {
	return sqlstore.Group(0, "SELECT "+t.Columns+" FROM "+t.Name+" WHERE id IN (", "?", ")")
}
