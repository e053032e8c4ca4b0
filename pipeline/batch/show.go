package batch

import (
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
	state                     schema.BatchState
	total, successful, failed int
	created                   int64
	finished                  sql.NullInt64
}

const selectBatch = "SELECT id, ref_id, state, total, successful, failed, created_at, finished_at FROM batch "

func scanRow(from state.Scanner) (r row, err error) {
	err = from.Scan(&r.id, &r.ref, &r.state, &r.total, &r.successful, &r.failed, &r.created, &r.finished)
	return r, err
}

// wire is the batch as replies show it.
func (r row) wire() schema.Batch {
	b := schema.Batch{
		BatchID: r.id, State: r.state, Total: r.total, Successful: r.successful, Failed: r.failed, Done: r.successful + r.failed,
		CreatedAt: instant(r.created),
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
	return api.Response{Value: schema.BatchShown{Status: schema.Success, Batch: r.wire()}}, nil
}

// selectPage reads a list, the newest first. A state stands in the text, so that
// batch_open finds the few that are not completed among many that are.
func selectPage(stands schema.BatchState) string {
	text := selectBatch + "WHERE account_id = $1 AND mode = $2 AND kind = $3 AND ($4 = '' OR id < $4)"
	switch stands {
	case "":
	case schema.BatchCompleted:
		text += " AND state = 'completed'"
	default:
		text += " AND state <> 'completed' AND state = '" + string(stands) + "'"
	}
	return text + " ORDER BY id DESC LIMIT $5"
}

// list answers GET of the batches of a kind.
func (w *worker) list(c *api.Call) (api.Response, error) {
	params, err := api.Parameters(c.URL.RawQuery, "state", "limit", "cursor")
	if err != nil {
		return api.Response{}, err
	}
	var f schema.Faults
	stands := schema.BatchState(params["state"])
	if stands != "" && !slices.Contains(schema.BatchStates, stands) {
		f.Add("state", "A batch is queued, processing or completed.")
	}
	name := "batches/" + w.kind.Name + "/" + string(stands)
	limit, after := page.Limit(&f, params), page.After(&f, w.Box, c, name, params)
	if err := f.Problem(); err != nil {
		return api.Response{}, err
	}
	rows, err := state.All(w.DB.View(c.Context()), scanRow, selectPage(stands), c.Account, c.World.String(), w.kind.Name, after, limit+1)
	if err != nil {
		return api.Response{}, fmt.Errorf("listing batches: %w", err)
	}
	return page.Reply(rows, limit,
		func(r row) (schema.Batch, error) { return r.wire(), nil },
		func(r row) *string { return page.Cursor(w.Box, c, name, r.id) })
}
