package batch

import (
	"database/sql"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/gorilla/mux"

	"vayu/internal/httpapi"
	"vayu/internal/pagination"
	"vayu/internal/sqlstore"
	"vayu/pipeline/batch/item"
	"vayu/schema"
)

// filter selects batches of an owner (account and world).
type filter struct {
	owner    schema.Owner
	state    schema.BatchState // "" for all
	ref      string            // "" for all
	from, to int64             // times of creation in microseconds; `to` is exclusive
	after    string            // id of the last batch of the previous page; "" for the first page
	limit    int
}

const (
	// ofAll compares row values. With one comparison per column, PostgreSQL would read the batches of all accounts.
	ofAll = "WHERE (account_id, mode, kind, id) >= ($1, $2, $3, $4) AND (account_id, mode, kind, id) < ($1, $2, $3, $5)"
	// ofRef has one comparison per column. That is fast enough, because a ref_id selects at most one batch.
	ofRef = "WHERE account_id = $1 AND mode = $2 AND kind = $3 AND id >= $4 AND id < $5"
)

// page returns the query for a page of batches, the newest first. The query reads one row more than the page has, to
// find out whether there is a next page. The state is a literal in the text, so that the database can use the partial
// indexes batch_open and batch_completed.
func page(k *item.Kind, f *filter, now time.Time) (text string, args []any) {
	from, to := pagination.IDRange(k.Prefix, f.from, f.to, f.after)
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
	switch f.state {
	case "":
	case schema.BatchCompleted:
		text += " AND state = 'completed' AND emptied_at IS NULL"
		if k.Retention > 0 {
			text += " AND finished_at + 0 > " + expiredBefore(k, now) // + 0 prevents the use of batch_kept, an index over all accounts
		}
	case schema.BatchExpired:
		text += " AND state = 'completed' AND finished_at <= " + expiredBefore(k, now)
	default:
		text += " AND state <> 'completed' AND state = '" + string(f.state) + "'"
	}
	return text + " ORDER BY account_id DESC, mode DESC, kind DESC, id DESC LIMIT $6", args
}

// readFilter reads the query parameters of a list. `name` identifies the list and the filter. A cursor is valid for one
// name only.
func (w *worker) readFilter(c *httpapi.Call) (f filter, name string, err error) {
	var faults schema.RequestErrors
	f = filter{owner: c.Owner(), state: schema.BatchState(c.Params["state"]), ref: c.Params["ref_id"]}
	if f.state != "" && !slices.Contains(w.kind.States(), f.state) {
		faults.Add("state", "The state must be "+w.kind.StatesText()+".")
	}
	f.from, f.to = pagination.TimeRange(&faults, c.Params)
	name = "batches/" + w.kind.Name + "?" + url.Values{
		"state": {string(f.state)}, "ref_id": {f.ref}, "span": {strconv.FormatInt(f.from, 10), strconv.FormatInt(f.to, 10)},
	}.Encode()
	f.limit, f.after = pagination.Limit(&faults, c.Params), pagination.ReadCursor(&faults, c, name, c.Params)
	return f, name, faults.Problem()
}

// list handles GET of the batches of a kind.
func (w *worker) list(c *httpapi.Call) (httpapi.Response, error) {
	f, name, err := w.readFilter(c)
	if err != nil {
		return httpapi.Response{}, err
	}
	now := w.Now()
	var rows []row
	if f.ref == "" || schema.IsRef(f.ref) { // an invalid ref_id matches no batch, and not every store accepts it as text
		text, args := page(w.kind, &f, now)
		if rows, err = sqlstore.All(w.DB.View(c.Context()), scanRow, text, args...); err != nil {
			return httpapi.Response{}, fmt.Errorf("listing batches: %w", err)
		}
	}
	return pagination.Reply(rows, f.limit,
		func(r row) (schema.Batch, error) { return replyOf(w.kind, &r, now), nil },
		func(r row) *string { return pagination.Cursor(c, name, r.id) })
}

type row struct {
	id                        string
	ref                       sql.NullString
	fingerprint               []byte
	state                     schema.BatchState
	total, successful, failed int
	created                   int64
	finished                  sql.NullInt64
}

const selectBatch = "SELECT id, ref_id, fingerprint, state, total, successful, failed, created_at, finished_at FROM batch "

func scanRow(from sqlstore.Scanner) (r row, err error) {
	err = from.Scan(&r.id, &r.ref, &r.fingerprint, &r.state, &r.total, &r.successful, &r.failed, &r.created, &r.finished)
	return r, err
}

// replyOf returns a batch in the form of replies.
func replyOf(k *item.Kind, r *row, now time.Time) schema.Batch {
	b := schema.Batch{
		BatchID: r.id, State: stateOf(k, r, now), Total: r.total, Successful: r.successful, Failed: r.failed, Done: r.successful + r.failed,
		CreatedAt: schema.FormatMicros(r.created), BatchRetention: keptReply(k, r),
	}
	if r.ref.Valid {
		b.RefID = &r.ref.String
	}
	if r.finished.Valid {
		text := schema.FormatMicros(r.finished.Int64)
		b.FinishedAt = &text
	}
	return b
}

// find returns the caller's batch with the id in the path, or the error not_found.
func (w *worker) find(c *httpapi.Call) (r row, err error) {
	id, found := mux.Vars(c.Request)["id"], false
	if schema.IsID(id) {
		r, found, err = sqlstore.One(w.DB.View(c.Context()), scanRow, selectBatch+"WHERE id = $1 AND account_id = $2 AND mode = $3 AND kind = $4",
			id, c.Account, c.World.String(), w.kind.Name)
	}
	switch {
	case err != nil:
		err = fmt.Errorf("reading a batch: %w", err)
	case !found:
		err = schema.NewProblem(schema.NotFound, "id", "There is no such batch.")
	}
	return r, err
}

// get handles GET of one batch.
func (w *worker) get(c *httpapi.Call) (httpapi.Response, error) {
	r, err := w.find(c)
	if err != nil {
		return httpapi.Response{}, err
	}
	return httpapi.Response{Value: schema.BatchReply{Status: schema.Success, Batch: replyOf(w.kind, &r, w.Now())}}, nil
}
