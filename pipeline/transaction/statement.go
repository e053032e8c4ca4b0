package transaction

import (
	"math"
	"strconv"

	"vayu/internal/pagination"
)

// queryBuilder builds a query and its arguments.
type queryBuilder struct {
	text string
	args []any
}

// value adds an argument and returns its placeholder.
func (q *queryBuilder) value(v any) string {
	q.args = append(q.args, v)
	return "$" + strconv.Itoa(len(q.args))
}

// and adds a condition (by AND) and its argument.
func (q *queryBuilder) and(condition string, value any) {
	q.text += " AND " + condition + q.value(value)
}

// addIndexed adds the conditions that use an index: the owner and a reference, or a range of
// the owner's ids with an indexed state. Without row comparisons, PostgreSQL would sort, or
// read the rows of all accounts in the order of the primary key.
func (t *Table[R, P]) addIndexed(q *queryBuilder, f *Filter, floor string) {
	if f.Ref != "" {
		q.text += "account_id = " + q.value(f.Owner.Account) + " AND mode = " + q.value(f.Owner.World.String()) + " AND ref_id = " + q.value(f.Ref)
		return
	}
	from, to := pagination.IDRange(t.Prefix, f.From, f.To, f.After)
	bound := func(id string) string {
		return "(" + q.value(f.Owner.Account) + ", " + q.value(f.Owner.World.String()) + ", " + q.value(id) + ")"
	}
	q.text += "(account_id, mode, id) >= " + bound(max(from, floor)) + " AND (account_id, mode, id) < " + bound(to)
	if f.State != "" && f.State != t.Unindexed {
		q.text += " AND state = '" + f.State + "'" // a literal, as in the partial indexes
	}
}

// descending is the reverse order of the index of (account_id, mode, id).
const descending = " ORDER BY account_id DESC, mode DESC, id DESC LIMIT "

// residualCondition returns the condition on the state if no index covers it; else "".
func (t *Table[R, P]) residualCondition(f *Filter) string {
	if f.State != "" && (f.Ref != "" || f.State == t.Unindexed) {
		return " AND state = '" + f.State + "'"
	}
	return ""
}

// query returns the query for a page and one more row, with ids at or above the id floor.
func (t *Table[R, P]) query(f *Filter, floor string) (string, []any) {
	q := queryBuilder{text: "SELECT " + t.Columns + " FROM " + t.Name + " WHERE "}
	t.addIndexed(&q, f, floor)
	if f.From != math.MinInt64 {
		q.and("created_at >= ", f.From)
	}
	if f.To != math.MaxInt64 {
		q.and("created_at < ", f.To)
	}
	q.text += t.residualCondition(f)
	return q.text + descending + q.value(f.Limit+1), q.args
}

// floorQuery returns the query for floor, the lowest id that one request reads.
func (t *Table[R, P]) floorQuery(f *Filter) (string, []any) {
	q := queryBuilder{text: "SELECT id FROM " + t.Name + " WHERE "}
	t.addIndexed(&q, f, "")
	// The offset is a literal, because for an argument PostgreSQL assumes a tenth of all rows.
	return q.text + descending + "1 OFFSET " + strconv.Itoa(f.scanLimit()-1), q.args
}
