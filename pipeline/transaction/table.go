// Package listing lists the transactions of an account: recharges, verifications. The newest
// come first, a page at a time, and every filter uses an index. Listed tables share a shape.
// Their ids are a prefix and a ULID, and they have the columns account_id, mode, id, state,
// ref_id and created_at. One index has the first three columns. Each state but the most
// frequent has a partial index of the same columns. (account_id, mode, ref_id) is unique.
package transaction

import (
	"time"

	"vayu/internal/sqlstore"
	"vayu/schema"
)

// Table describes a listed table, whose rows are read as an R.
type Table[R any] struct {
	Name    string // "recharge"
	Columns string // as Scan reads them
	Prefix  string // of ids, in lower case: "txn_"
	// Unindexed is the most frequent state, which has no index of its own. Such an index
	// would be written for nearly every row and select little.
	Unindexed string
	// Scan reads a row of Columns.
	Scan func(sqlstore.Scanner) (R, error)
	// Of returns the values that a filter compares.
	Of func(*R) Facts
}

// Facts are the values of a row that a filter compares.
type Facts struct {
	ID        string
	Owner     schema.Owner
	State     string
	Ref       string // "" for none
	CreatedAt time.Time
}

// ByID returns rows by their ids, for any owner. Missing rows are not in the map.
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

// OfBatch returns the rows of the records of a batch in [from, to), by their ids, for any
// owner.
func (t *Table[R]) OfBatch(q sqlstore.Querier, batch string, from, to int) (map[string]R, error) {
	found := make(map[string]R, to-from)
	err := sqlstore.Each(q, func(row sqlstore.Scanner) error {
		r, err := t.Scan(row)
		found[t.Of(&r).ID] = r
		return err
	}, t.ofRecords(), batch, from, to)
	return found, err
}

// ofRecords returns the query of rows by batch. It is one statement, whereas a list of ids
// would need several.
func (t *Table[R]) ofRecords() string {
	return "SELECT " + t.Columns + " FROM " + t.Name + " WHERE id IN (SELECT subject FROM batch_item WHERE batch_id = $1 AND place >= $2 AND place < $3)"
}

// byID returns the query of rows by ids.
func (t *Table[R]) byID() sqlstore.BatchStatement {
	return sqlstore.NewBatchStatement(0, "SELECT "+t.Columns+" FROM "+t.Name+" WHERE id IN (", "?", ")")
}
