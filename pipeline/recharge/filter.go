package recharge

import (
	"database/sql"
	"errors"
	"math"
	"strconv"
	"time"

	"vayu/internal/page"
	"vayu/internal/state"
	"vayu/schema"
)

// filter is which recharges of an owner are asked for.
type filter struct {
	owner    schema.Owner
	state    schema.RechargeState // "" for all
	ref      string               // "" for all
	batch    string               // "" for all
	from, to int64                // microseconds; to is not part of it
	after    string               // the last of the page before
	limit    int
	scan     int // how many are looked at for those that no index finds
}

// scanMost bounds how many recharges one request looks at for those that no index
// finds: some milliseconds, and who has hardly any asks again.
const scanMost = 10_000

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
func (f *filter) indexed(q *question, floor string) {
	if f.ref != "" {
		q.text += "account_id = " + q.value(f.owner.Account) + " AND mode = " + q.value(f.owner.World.String()) + " AND ref_id = " + q.value(f.ref)
		return
	}
	from, to := f.ids()
	bound := func(id string) string {
		return "(" + q.value(f.owner.Account) + ", " + q.value(f.owner.World.String()) + ", " + q.value(id) + ")"
	}
	q.text += "(account_id, mode, id) >= " + bound(max(from, floor)) + " AND (account_id, mode, id) < " + bound(to)
	if f.state != "" && f.state != schema.RechargeSuccess {
		q.text += " AND state = '" + string(f.state) + "'" // as it stands in the indices of those
	}
}

// backwards is the order of that index.
const backwards = " ORDER BY account_id DESC, mode DESC, id DESC LIMIT "

// unindexed is what has to be read for. Most are successful: an index of those would
// be written for nearly every recharge, and find little more than that of all.
func (f *filter) unindexed() string {
	switch {
	case f.ref != "" && f.state != "":
		return " AND state = '" + string(f.state) + "'"
	case f.state == schema.RechargeSuccess:
		return " AND state = 'success'"
	default:
		return ""
	}
}

// query is the statement for one more than the limit, of those that are not below
// the id floor.
func (f *filter) query(floor string) (string, []any) {
	q := question{text: "SELECT " + columns + " FROM recharge WHERE "}
	f.indexed(&q, floor)
	if f.from != math.MinInt64 {
		q.and("created_at >= ", f.from)
	}
	if f.to != math.MaxInt64 {
		q.and("created_at < ", f.to)
	}
	q.text += f.unindexed()
	return q.text + backwards + q.value(f.limit+1), q.args
}

// lowest is the statement for the id of the last that one request looks at.
func (f *filter) lowest() (string, []any) {
	q := question{text: "SELECT id FROM recharge WHERE "}
	f.indexed(&q, "")
	// As it is, because PostgreSQL takes a value for a tenth of all rows.
	return q.text + backwards + "1 OFFSET " + strconv.Itoa(f.scan-1), q.args
}

// page is what a filter lets through, and the id after which the next page begins,
// "" when this is the last. With something that no index finds, a page may be
// short of its limit and not the last.
func (f *filter) page(q state.Querier) (all []Record, next string, err error) {
	floor := ""
	switch {
	case f.batch != "":
		all, err = f.ofBatch(q)
	case f.ref == "" && f.unindexed() != "":
		text, args := f.lowest()
		if err := q.QueryRow(text, args...).Scan(&floor); err != nil && !errors.Is(err, sql.ErrNoRows) {
			return nil, "", err
		}
		fallthrough
	default:
		text, args := f.query(floor)
		all, err = state.All(q, scanRecord, text, args...)
	}
	if err != nil {
		return nil, "", err
	}
	if len(all) > f.limit {
		all = all[:f.limit]
		return all, all[f.limit-1].ID, nil
	}
	return all, floor, nil
}

// ofBatch is what a filter lets through of a batch, one more than the limit. The
// records of a batch are few enough to be looked through at once.
func (f *filter) ofBatch(q state.Querier) ([]Record, error) {
	var mine int
	err := q.QueryRow("SELECT 1 FROM batch WHERE id = $1 AND account_id = $2 AND mode = $3", f.batch, f.owner.Account, f.owner.World.String()).Scan(&mine)
	if err != nil {
		if errors.Is(err, sql.ErrNoRows) {
			err = nil
		}
		return nil, err
	}
	ids, err := state.All(q, scanText, selectSubjects, f.batch, f.after)
	if err != nil {
		return nil, err
	}
	var all []Record
	for len(ids) > 0 && len(all) <= f.limit {
		some := ids[:min(len(ids), f.limit+1)]
		ids = ids[len(some):]
		found, err := records(q, some)
		if err != nil {
			return nil, err
		}
		for _, id := range some {
			if r, ok := found[id]; ok && f.lets(&r) {
				all = append(all, r)
			}
		}
	}
	return all, nil
}

// selectSubjects asks for the recharges of a batch below an id, the newest first;
// "" is for all.
const selectSubjects = "SELECT subject FROM batch_item WHERE batch_id = $1 AND subject <> '' AND (subject < $2 OR $2 = '') ORDER BY subject DESC"

func scanText(row state.Scanner) (text string, err error) {
	err = row.Scan(&text)
	return text, err
}

// lets reports whether a filter lets a recharge of its batch through.
func (f *filter) lets(r *Record) bool {
	at := r.CreatedAt.UnixMicro()
	return r.Owner == f.owner && (f.state == "" || r.State == f.state) && (f.ref == "" || r.RefID == f.ref) && at >= f.from && at < f.to
}

// selectRecords asks for many recharges by their ids.
var selectRecords = state.Group(0, "SELECT "+columns+" FROM recharge WHERE id IN (", "?", ")")

// records are recharges by their ids.
func records(q state.Querier, ids []string) (map[string]Record, error) {
	found := make(map[string]Record, len(ids))
	err := selectRecords.Each(len(ids), func(text string, from, to int) error {
		args := make([]any, 0, to-from)
		for _, id := range ids[from:to] {
			args = append(args, id)
		}
		return state.Each(q, func(row state.Scanner) error {
			r, err := scanRecord(row)
			found[r.ID] = r
			return err
		}, text, args...)
	})
	return found, err
}

// ids are the first id and the one after the last of what a filter lets through: an
// id holds the millisecond in which its recharge was made.
func (f *filter) ids() (from, to string) {
	const beyond = "u" // more than idPrefix in every collation
	from, to = "", beyond
	if id, ok := page.FirstID(idPrefix, f.from); ok && f.from != math.MinInt64 {
		from = id
	}
	if f.to != math.MaxInt64 {
		if id, ok := page.FirstID(idPrefix, f.to+time.Millisecond.Microseconds()); ok {
			to = id
		}
	}
	if f.after != "" {
		to = min(to, f.after)
	}
	return from, to
}
