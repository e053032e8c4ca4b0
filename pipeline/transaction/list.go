package transaction

import (
	"fmt"
	"iter"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"vayu/internal/httpapi"
	"vayu/internal/pagination"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

// ListParams are the query parameters of the list of a kind of transactions.
var ListParams = []string{"ref_id", "status", "batch_id", "from", "to", "limit", "cursor", "totals"}

// ServeList answers GET of the transactions of an account.
func (c *Core[R, P]) ServeList(call *httpapi.Call) (httpapi.Response, error) {
	f, name, err := readFilter(call, c.kind.List, c.kind.States, c.kind.Narrow)
	if err != nil {
		return httpapi.Response{}, err
	}
	all, next, err := c.kind.Page(c.DB.View(call.Context()), f)
	if err != nil {
		return httpapi.Response{}, fmt.Errorf("listing %s: %w", c.kind.List, err)
	}
	reply := struct {
		schema.List[any]
		Totals *Totals `json:"totals,omitempty"`
	}{List: schema.List[any]{Status: schema.Success, Data: []any{}}}
	for i := range all {
		reply.Data = append(reply.Data, c.kind.Reply(&all[i]))
	}
	if reply.HasMore = next != ""; reply.HasMore {
		reply.NextCursor = pagination.Cursor(call, name, next)
	}
	if f.Totals && f.After == "" {
		totals, err := c.kind.Totals(c.DB.View(call.Context()), f, c.kind.States, totalsMost)
		if err != nil {
			return httpapi.Response{}, fmt.Errorf("adding up %s: %w", c.kind.List, err)
		}
		reply.Totals = &totals
	}
	return httpapi.Response{Value: reply}, nil
}

// Filter selects transactions of an owner.
type Filter struct {
	Owner  schema.Owner
	State  string // "" for all; otherwise a state of the table, because the query has it as a literal
	Ref    string // "" for all
	Batch  string // "" for all
	Number string // number of a recharge, in digits, or masked, such as XXXXXX3210; "" for all
	// Where has SQL conditions on columns that only this kind of transaction has, such as " AND amount >= 1000"; "" for
	// none. Its literals are checked values, never the unchecked text of a client.
	Where    string
	From, To int64  // microseconds; To is exclusive; math.MinInt64 and math.MaxInt64 for all time
	After    string // result `next` of Page for the previous page; "" for the first page
	Limit    int
	Totals   bool // the first page has the totals of all pages
	// Scan limits the rows that a query reads for conditions without an index. If it is 0, the limit is 10,000.
	// Reading so many rows takes a few milliseconds.
	Scan int
}

// defaultScan is the default of [Filter.Scan].
const defaultScan = 10_000

// readFilter reads the query parameters of a list: status (one of `states`), ref_id, batch_id, from, to, limit and
// cursor. The error is a *schema.Problem that lists every fault. `list` names the listed objects, such as "recharges".
// `narrow` reads the parameters that only this list has; nil if there are none. The result `name` identifies the list
// and its filter; a cursor is valid for one name only.
func readFilter(c *httpapi.Call, list string, states []string, narrow Narrow) (f Filter, name string, err error) {
	var faults schema.RequestErrors
	f = Filter{Owner: c.Owner(), State: c.Params["status"], Ref: c.Params["ref_id"], Batch: c.Params["batch_id"]}
	if f.State != "" && !slices.Contains(states, f.State) {
		last := len(states) - 1
		faults.Add("status", "The status of "+list+" must be "+strings.Join(states[:last], ", ")+" or "+states[last]+".")
	}
	f.From, f.To = pagination.TimeRange(&faults, c.Params)
	if narrow != nil {
		f.Number, f.Where = narrow(&faults, c.Params)
	}
	name = list + "?" + url.Values{
		"status": {f.State}, "ref_id": {f.Ref}, "batch_id": {f.Batch},
		"from": {strconv.FormatInt(f.From, 10)}, "to": {strconv.FormatInt(f.To, 10)},
	}.Encode() + f.conditions()
	f.Totals = pagination.Totals(&faults, c.Params)
	f.Limit, f.After = pagination.Limit(&faults, c.Params), pagination.ReadCursor(&faults, c, name, c.Params)
	return f, name, faults.Problem()
}

// valid reports whether the reference and the batch can exist. Other values match no row, and not every store accepts
// them as text.
func (f *Filter) valid() bool {
	return (f.Ref == "" || schema.IsRef(f.Ref)) && (f.Batch == "" || schema.IsID(f.Batch))
}

// conditions returns the conditions of Number and Where in SQL. The number can be a literal, because it has only digits
// and the letter X. The condition on number_digest selects the index: one of unmasked or one of masked numbers.
func (f *Filter) conditions() string {
	if f.Number == "" {
		return f.Where
	}
	digest := "NULL"
	if strings.HasPrefix(f.Number, "X") {
		digest = "NOT NULL"
	}
	return " AND number = '" + f.Number + "' AND number_digest IS " + digest + f.Where
}

// Page returns the rows of a page, the newest first. `next` is the id after which the next page begins; "" on the last
// page. If a condition has no index, a page may have fewer rows than f.Limit although it is not the last.
func (t *Table[R, P]) Page(q sqlstore.Querier, f Filter) (all []R, next string, err error) {
	if !f.valid() {
		return nil, "", nil
	}
	floor := ""
	switch {
	case f.Batch != "":
		all, err = t.ofBatch(q, &f)
	case t.needsScan(&f):
		if floor, _, err = t.floor(q, &f); err != nil {
			return nil, "", err
		}
		fallthrough
	default:
		text, args := t.query(t.Columns, &f, floor)
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

// needsScan reports whether a filter has conditions without an index, and no reference or number. The query of such a
// filter may read many rows to find few.
func (t *Table[R, P]) needsScan(f *Filter) bool {
	return f.Ref == "" && f.Number == "" && (f.State == t.Unindexed || f.Where != "")
}

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

// addIndexed adds the conditions that use an index. They select the owner and a reference, or a range of the owner's
// ids, which may be limited to an indexed state. The comparisons of row values keep PostgreSQL from sorting, and from
// reading the rows of all accounts in the order of the primary key.
func (t *Table[R, P]) addIndexed(q *queryBuilder, f *Filter, floor string) {
	if f.Ref != "" {
		q.text += "account_id = " + q.value(f.Owner.Account) + " AND mode = " + q.value(f.Owner.World.String()) + " AND ref_id = " + q.value(f.Ref)
		return
	}
	from, to := pagination.IDRange(t.Prefix, f.From, f.To, f.After)
	if f.Number != "" {
		q.text += "account_id = " + q.value(f.Owner.Account) + " AND mode = " + q.value(f.Owner.World.String()) +
			" AND id >= " + q.value(from) + " AND id < " + q.value(to)
		return
	}
	bound := func(id string) string {
		return "(" + q.value(f.Owner.Account) + ", " + q.value(f.Owner.World.String()) + ", " + q.value(id) + ")"
	}
	q.text += "(account_id, mode, id) >= " + bound(max(from, floor)) + " AND (account_id, mode, id) < " + bound(to)
	if f.State != t.Unindexed {
		q.addState(f)
	}
}

// addState adds the condition on the state. The state is a literal, because a partial index serves only literals.
func (q *queryBuilder) addState(f *Filter) {
	if f.State != "" {
		q.text += " AND state = '" + f.State + "'"
	}
}

// descending is an ORDER BY clause for the newest rows first. It reverses the index of (account_id, mode, id).
const descending = " ORDER BY account_id DESC, mode DESC, id DESC LIMIT "

// query returns the query that reads `columns` of the rows of a page. It reads only ids from `floor` on. It reads one
// row more than the page has, to detect a further page.
func (t *Table[R, P]) query(columns string, f *Filter, floor string) (string, []any) {
	q := queryBuilder{text: "SELECT " + columns + " FROM " + t.Name + " WHERE "}
	t.addIndexed(&q, f, floor)
	if f.From != math.MinInt64 {
		q.text += " AND created_at >= " + q.value(f.From)
	}
	if f.To != math.MaxInt64 {
		q.text += " AND created_at < " + q.value(f.To)
	}
	if f.Ref != "" || f.Number != "" || f.State == t.Unindexed {
		q.addState(f)
	}
	return q.text + f.conditions() + descending + q.value(f.Limit+1), q.args
}

// floor returns the lowest id that one request may read. It returns false if the request may read all rows.
func (t *Table[R, P]) floor(q sqlstore.Querier, f *Filter) (string, bool, error) {
	text, args := t.floorQuery(f)
	return sqlstore.One(q, sqlstore.Scalar[string], text, args...)
}

// floorQuery returns the query for the lowest id that one request may read: the id of row number f.Scan. If there are
// fewer rows, the query returns none.
func (t *Table[R, P]) floorQuery(f *Filter) (string, []any) {
	q := queryBuilder{text: "SELECT id FROM " + t.Name + " WHERE "}
	t.addIndexed(&q, f, "")
	scan := f.Scan
	if scan == 0 {
		scan = defaultScan
	}
	// The offset is a literal. For an argument, PostgreSQL would estimate the offset as a tenth of all rows.
	return q.text + descending + "1 OFFSET " + strconv.Itoa(scan-1), q.args
}

// selectSubjects selects the subjects (transaction ids) of a batch below the id $2 ("" for all), the newest first.
const selectSubjects = "SELECT subject FROM batch_item WHERE batch_id = $1 AND subject <> '' AND (subject < $2 OR $2 = '') ORDER BY subject DESC"

// ofBatch returns the rows of a batch that match f, the newest first. If there is another page, it returns more than
// f.Limit rows. It returns no rows if the batch belongs to another owner.
func (t *Table[R, P]) ofBatch(q sqlstore.Querier, f *Filter) ([]R, error) {
	_, mine, err := sqlstore.One(q, sqlstore.Scalar[int], "SELECT 1 FROM batch WHERE id = $1 AND account_id = $2 AND mode = $3",
		f.Batch, f.Owner.Account, f.Owner.World.String())
	if err != nil || !mine {
		return nil, err
	}
	ids, err := sqlstore.All(q, sqlstore.Scalar[string], selectSubjects, f.Batch, f.After)
	if err != nil {
		return nil, err
	}
	var all []R
	for some := range chunks(ids, f.Limit+1) {
		found, err := t.byIDs(q, some, f.conditions())
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

// minChunk is the minimum size of the chunks after the first one; only the last may be smaller. With smaller chunks,
// pages of one row would need thousands of queries for a batch.
const minChunk = 500

// chunks splits ids into chunks. The first chunk has the size of a page, because one chunk often suffices.
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

// matches reports whether a row of the filter's batch meets the conditions on owner, state, reference and time. The
// conditions on Number and Where are part of the query instead (see ofBatch).
func (f *Filter) matches(b *Base, state string) bool {
	at := b.CreatedAt.UnixMicro()
	return b.Owner == f.Owner && (f.State == "" || state == f.State) && (f.Ref == "" || b.RefID == f.Ref) && at >= f.From && at < f.To
}
