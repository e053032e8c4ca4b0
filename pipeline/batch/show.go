package batch

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gorilla/mux"

	"vayu/internal/api"
	"vayu/internal/page"
	"vayu/internal/state"
	"vayu/schema"
)

// row is a batch as it is in the store.
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

func scanRow(from state.Scanner) (r row, err error) {
	err = from.Scan(&r.id, &r.ref, &r.fingerprint, &r.state, &r.total, &r.successful, &r.failed, &r.created, &r.finished)
	return r, err
}

// wire is a batch as replies show it.
func (k *Kind) wire(r *row, now time.Time) schema.Batch {
	b := schema.Batch{
		BatchID: r.id, State: k.stateOf(r, now), Total: r.total, Successful: r.successful, Failed: r.failed, Done: r.successful + r.failed,
		CreatedAt: instant(r.created), BatchKept: k.kept(r),
	}
	if r.ref.Valid {
		b.RefID = &r.ref.String
	}
	if r.finished.Valid {
		text := instant(r.finished.Int64)
		b.FinishedAt = &text
	}
	return b
}

// instant writes a time of the store.
func instant(micros int64) string {
	return time.UnixMicro(micros).UTC().Format(time.RFC3339)
}

// find reads a batch of the caller's, by the id in the path.
func (w *worker) find(c *api.Call) (r row, err error) {
	id := mux.Vars(c.Request)["id"]
	err = sql.ErrNoRows
	if schema.IsID(id) {
		r, err = scanRow(w.DB.View(c.Context()).QueryRow(selectBatch+"WHERE id = $1 AND account_id = $2 AND mode = $3 AND kind = $4",
			id, c.Account, c.World.String(), w.kind.Name))
	}
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return r, schema.Refuse(schema.NotFound, "id", "There is no such batch.")
	case err != nil:
		return r, fmt.Errorf("reading a batch: %w", err)
	}
	return r, nil
}

// get answers GET of one batch.
func (w *worker) get(c *api.Call) (api.Response, error) {
	if _, err := api.Parameters(c.URL.RawQuery); err != nil {
		return api.Response{}, err
	}
	r, err := w.find(c)
	if err != nil {
		return api.Response{}, err
	}
	return api.Response{Value: schema.BatchShown{Status: schema.Success, Batch: w.kind.wire(&r, w.Now())}}, nil
}

// beyond is more than every id of a kind, in every collation.
func (k *Kind) beyond() string { return string(k.Prefix[0] + 1) }

// selectPage reads a list below an id, the newest first. Batches are compared as rows,
// because otherwise PostgreSQL may read what everybody has, along the ids. A state stands in the text, so that
// batch_open finds the few that are not completed among many that are, and
// batch_completed those of which the results are there.
func (k *Kind) selectPage(stands schema.BatchState, now time.Time) string {
	text := selectBatch + "WHERE (account_id, mode, kind, id) >= ($1, $2, $3, '') AND (account_id, mode, kind, id) < ($1, $2, $3, $4)"
	switch stands {
	case "":
	case schema.BatchCompleted:
		text += " AND state = 'completed' AND emptied_at IS NULL"
		if k.Keep > 0 {
			text += " AND finished_at + 0 > " + k.expired(now) // else batch_kept is read, with those of everybody
		}
	case schema.BatchExpired:
		text += " AND state = 'completed' AND finished_at <= " + k.expired(now)
	default:
		text += " AND state <> 'completed' AND state = '" + string(stands) + "'"
	}
	return text + " ORDER BY account_id DESC, mode DESC, kind DESC, id DESC LIMIT $5"
}

// list answers GET of the batches of a kind.
func (w *worker) list(c *api.Call) (api.Response, error) {
	params, err := api.Parameters(c.URL.RawQuery, "state", "limit", "cursor")
	if err != nil {
		return api.Response{}, err
	}
	var f schema.Faults
	stands := schema.BatchState(params["state"])
	if stands != "" && !slices.Contains(w.kind.states(), stands) {
		f.Add("state", "A batch is "+w.kind.statesText()+".")
	}
	name := "batches/" + w.kind.Name + "/" + string(stands)
	limit, after := page.Limit(&f, params), page.After(&f, w.Box, c, name, params)
	if err := f.Problem(); err != nil {
		return api.Response{}, err
	}
	now := w.Now()
	rows, err := state.All(w.DB.View(c.Context()), scanRow, w.kind.selectPage(stands, now), c.Account, c.World.String(), w.kind.Name, cmp.Or(after, w.kind.beyond()), limit+1)
	if err != nil {
		return api.Response{}, fmt.Errorf("listing batches: %w", err)
	}
	return page.Reply(rows, limit,
		func(r row) (schema.Batch, error) { return w.kind.wire(&r, now), nil },
		func(r row) *string { return page.Cursor(w.Box, c, name, r.id) })
}
