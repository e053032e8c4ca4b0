package batch

import (
	"cmp"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"time"

	"vayu/internal/httpapi"
	"vayu/internal/pagination"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

// filter is which batches of an owner are asked for.
type filter struct {
	owner    schema.Owner
	stands   schema.BatchState // "" for all
	ref      string            // "" for all
	from, to int64             // microseconds; to is not part of it
	after    string            // id of the last of the page before; "" for the first page
	limit    int
}

// ids are the first id and the one after the last of what a filter lets through: an id
// holds the millisecond in which its row was made.
func (k *Kind) ids(f *filter) (from, to string) {
	from, to = k.Prefix, string(k.Prefix[0]+1) // the letter after it is more than every id, in every collation
	if id, ok := pagination.FirstID(k.Prefix, f.from); ok {
		from = id
	}
	if f.to < math.MaxInt64-time.Millisecond.Microseconds() {
		if id, ok := pagination.FirstID(k.Prefix, f.to+time.Millisecond.Microseconds()); ok {
			to = id
		}
	}
	return from, min(to, cmp.Or(f.after, to))
}

// Batches are compared as rows, because otherwise PostgreSQL may read what everybody
// has, along the ids; a reference is one batch's.
const (
	ofAll = "WHERE (account_id, mode, kind, id) >= ($1, $2, $3, $4) AND (account_id, mode, kind, id) < ($1, $2, $3, $5)"
	ofRef = "WHERE account_id = $1 AND mode = $2 AND kind = $3 AND id >= $4 AND id < $5"
)

// page is the statement for one more than a page, the newest first. A state stands in
// the text, so that batch_open finds the few that are not completed among many that are,
// and batch_completed those of which the results are there.
func (k *Kind) page(f *filter, now time.Time) (text string, args []any) {
	from, to := k.ids(f)
	args = []any{f.owner.Account, f.owner.World.String(), k.Name, from, to, f.limit + 1}
	value := func(condition string, v any) {
		args = append(args, v)
		text += condition + "$" + strconv.Itoa(len(args))
	}
	text = selectBatch + ofAll
	if f.ref != "" {
		text = selectBatch + ofRef
		value(" AND ref_id = ", f.ref)
	}
	if f.from != math.MinInt64 {
		value(" AND created_at >= ", f.from)
	}
	if f.to != math.MaxInt64 {
		value(" AND created_at < ", f.to)
	}
	switch f.stands {
	case "":
	case schema.BatchCompleted:
		text += " AND state = 'completed' AND emptied_at IS NULL"
		if k.Keep > 0 {
			text += " AND finished_at + 0 > " + k.expired(now) // else batch_kept is read, with those of everybody
		}
	case schema.BatchExpired:
		text += " AND state = 'completed' AND finished_at <= " + k.expired(now)
	default:
		text += " AND state <> 'completed' AND state = '" + string(f.stands) + "'"
	}
	return text + " ORDER BY account_id DESC, mode DESC, kind DESC, id DESC LIMIT $6", args
}

// asked reads the query of a call for a list, and names the list for its cursors.
func (w *worker) asked(c *httpapi.Call) (f filter, name string, err error) {
	params, err := httpapi.Parameters(c.URL.RawQuery, "state", "ref_id", "from", "to", "limit", "cursor")
	if err != nil {
		return filter{}, "", err
	}
	var faults schema.Faults
	f = filter{owner: c.Owner(), stands: schema.BatchState(params["state"]), ref: params["ref_id"]}
	if f.stands != "" && !slices.Contains(w.kind.states(), f.stands) {
		faults.Add("state", "A batch is "+w.kind.statesText()+".")
	}
	f.from, f.to = pagination.Span(&faults, params)
	name = "batches/" + w.kind.Name + "?" + url.Values{
		"state": {string(f.stands)}, "ref_id": {f.ref}, "span": {strconv.FormatInt(f.from, 10), strconv.FormatInt(f.to, 10)},
	}.Encode()
	f.limit, f.after = pagination.Limit(&faults, params), pagination.After(&faults, w.Box, c, name, params)
	return f, name, faults.Problem()
}

// list answers GET of the batches of a kind.
func (w *worker) list(c *httpapi.Call) (httpapi.Response, error) {
	f, name, err := w.asked(c)
	if err != nil {
		return httpapi.Response{}, err
	}
	now := w.Now()
	var rows []row
	if f.ref == "" || schema.IsRef(f.ref) { // else nothing is called that, and not every store takes it for text
		text, args := w.kind.page(&f, now)
		if rows, err = sqlstore.All(w.DB.View(c.Context()), scanRow, text, args...); err != nil {
			return httpapi.Response{}, fmt.Errorf("listing batches: %w", err)
		}
	}
	return pagination.Reply(rows, f.limit,
		func(r row) (schema.Batch, error) { return w.kind.wire(&r, now), nil },
		func(r row) *string { return pagination.Cursor(w.Box, c, name, r.id) })
}
