package batch

import (
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/gorilla/mux"

	"vayu/internal/httpapi"
	"vayu/internal/sqlstore"
	"vayu/pipeline/batch/item"
	"vayu/schema"
)

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
	id := mux.Vars(c.Request)["id"]
	err = sql.ErrNoRows
	if schema.IsID(id) {
		r, err = scanRow(w.DB.View(c.Context()).QueryRow(selectBatch+"WHERE id = $1 AND account_id = $2 AND mode = $3 AND kind = $4",
			id, c.Account, c.World.String(), w.kind.Name))
	}
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return r, schema.NewProblem(schema.NotFound, "id", "There is no such batch.")
	case err != nil:
		return r, fmt.Errorf("reading a batch: %w", err)
	}
	return r, nil
}

// get handles GET of one batch.
func (w *worker) get(c *httpapi.Call) (httpapi.Response, error) {
	r, err := w.find(c)
	if err != nil {
		return httpapi.Response{}, err
	}
	return httpapi.Response{Value: schema.BatchReply{Status: schema.Success, Batch: replyOf(w.kind, &r, w.Now())}}, nil
}
