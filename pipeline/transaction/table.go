package transaction

import (
	"database/sql"
	"errors"

	"vayu/internal/sqlstore"
	"vayu/schema"
)

// Table describes the table of a kind of transactions. Such tables share a shape. Their ids
// are a prefix and a ULID, and they have the columns account_id, mode, id, state, ref_id and
// created_at. One index has the first three columns. Each state but the most frequent has a
// partial index of the same columns. (account_id, mode, ref_id) is unique. With the columns of
// [workqueue.Table], the table is a work queue, too.
type Table[R any, P Record[R]] struct {
	Name    string // "recharge"
	Columns string // columns in the order in which Scan reads them
	Prefix  string // prefix of ids, in lower case: "txn_"
	// Unindexed is the most frequent state, which has no separate index. Such an index would
	// be written for nearly every row and select little.
	Unindexed string
	// Scan reads a row of Columns.
	Scan func(sqlstore.Scanner) (R, error)
	// Missing is the error for an unknown id.
	Missing *schema.Problem
}

// Get returns a row by its id; false if there is none.
func (t *Table[R, P]) Get(q sqlstore.Querier, id string) (R, bool, error) {
	return t.One(q, "SELECT "+t.Columns+" FROM "+t.Name+" WHERE id = $1", id)
}

// One returns the row of Columns that a statement yields; false if there is none.
func (t *Table[R, P]) One(q sqlstore.Querier, query string, args ...any) (R, bool, error) {
	r, err := t.Scan(q.QueryRow(query, args...))
	if errors.Is(err, sql.ErrNoRows) {
		var none R
		return none, false, nil
	}
	return r, err == nil, err
}

// byIDs returns rows by their ids, for any owner. Missing rows are not in the map.
func (t *Table[R, P]) byIDs(q sqlstore.Querier, ids []string) (map[string]R, error) {
	found := make(map[string]R, len(ids))
	many := t.byID()
	err := many.Each(len(ids), func(text string, from, to int) error {
		args := make([]any, 0, to-from)
		for _, id := range ids[from:to] {
			args = append(args, id)
		}
		return sqlstore.Each(q, t.into(found), text, args...)
	})
	return found, err
}

// into returns a function that adds a row to a map by its id.
func (t *Table[R, P]) into(found map[string]R) func(sqlstore.Scanner) error {
	return func(row sqlstore.Scanner) error {
		r, err := t.Scan(row)
		found[P(&r).Shared().ID] = r
		return err
	}
}

// ofRecords returns the query for the transactions of a range of a batch's records. It is one
// statement, whereas a list of ids would need several.
func (t *Table[R, P]) ofRecords() string {
	return "SELECT " + t.Columns + " FROM " + t.Name + " WHERE id IN (SELECT subject FROM batch_item WHERE batch_id = $1 AND place >= $2 AND place < $3)"
}

func (t *Table[R, P]) byID() sqlstore.BatchStatement {
	return sqlstore.NewBatchStatement(0, "SELECT "+t.Columns+" FROM "+t.Name+" WHERE id IN (", "?", ")")
}
