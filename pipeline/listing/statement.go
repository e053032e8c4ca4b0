package listing

import (
	"math"
	"strconv"
)

// question is a statement on its way to be one, and its values.
type question struct {
	text string
	args []any
}

// value adds a value, and returns its place.
func (q *question) value(v any) string {
	q.args = append(q.args, v)
	return "$" + strconv.Itoa(len(q.args))
}

// and adds a condition that ends with its value.
func (q *question) and(condition string, value any) { q.text += " AND " + condition + q.value(value) }

// indexed adds what an index finds, in the order of ids: those of the owner from one
// id up to another. They are compared as rows, because with an owner that is equal
// PostgreSQL may take the order from the primary key, and read what everybody has
// until a page is full; or read all that one has by another index, and sort it.
func (t *Table[R]) indexed(q *question, f *Filter, floor string) {
	if f.Ref != "" {
		q.text += "account_id = " + q.value(f.Owner.Account) + " AND mode = " + q.value(f.Owner.World.String()) + " AND ref_id = " + q.value(f.Ref)
		return
	}
	from, to := t.ids(f)
	bound := func(id string) string {
		return "(" + q.value(f.Owner.Account) + ", " + q.value(f.Owner.World.String()) + ", " + q.value(id) + ")"
	}
	q.text += "(account_id, mode, id) >= " + bound(max(from, floor)) + " AND (account_id, mode, id) < " + bound(to)
	if f.State != "" && f.State != t.Unindexed {
		q.text += " AND state = '" + f.State + "'" // as it stands in the indices of those
	}
}

// backwards is the order of that index.
const backwards = " ORDER BY account_id DESC, mode DESC, id DESC LIMIT "

// unindexed is what has to be read for.
func (t *Table[R]) unindexed(f *Filter) string {
	if f.State != "" && (f.Ref != "" || f.State == t.Unindexed) {
		return " AND state = '" + f.State + "'"
	}
	return ""
}

// query is the statement for one more than the limit, of those that are not below
// the id floor.
func (t *Table[R]) query(f *Filter, floor string) (string, []any) {
	q := question{text: "SELECT " + t.Columns + " FROM " + t.Name + " WHERE "}
	t.indexed(&q, f, floor)
	if f.From != math.MinInt64 {
		q.and("created_at >= ", f.From)
	}
	if f.To != math.MaxInt64 {
		q.and("created_at < ", f.To)
	}
	q.text += t.unindexed(f)
	return q.text + backwards + q.value(f.Limit+1), q.args
}

// lowest is the statement for the id of the last that one request looks at.
func (t *Table[R]) lowest(f *Filter) (string, []any) {
	q := question{text: "SELECT id FROM " + t.Name + " WHERE "}
	t.indexed(&q, f, "")
	// As it is, because PostgreSQL takes a value for a tenth of all rows.
	return q.text + backwards + "1 OFFSET " + strconv.Itoa(f.scan()-1), q.args
}
