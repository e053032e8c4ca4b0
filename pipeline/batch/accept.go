package batch

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"time"

	"github.com/oklog/ulid/v2"

	"vayu/internal/access/audit"
	"vayu/internal/failpoint"
	"vayu/internal/httpapi"
	"vayu/internal/sqlstore"
	"vayu/pipeline/batch/body"
	"vayu/schema"
)

const (
	// insertBatch inserts a batch. It inserts nothing if the account has a batch of this world, kind and ref_id.
	insertBatch = `INSERT INTO batch (id, account_id, mode, kind, ref_id, fingerprint, state, total, successful, failed, key_id, request_id, client, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, 'queued', $7, 0, 0, $8, $9, $10, $11) ON CONFLICT (account_id, mode, kind, ref_id) DO NOTHING`
	selectByRef = selectBatch + "WHERE account_id = $1 AND mode = $2 AND kind = $3 AND ref_id = $4"
)

var insertChunk = sqlstore.NewBatchStatement(4, "INSERT INTO batch_chunk (batch_id, kind, account_id, due_at, first, count, records, token, tries) VALUES ",
	"($1, $2, $3, $4, ?, ?, ?, '', 0)", "")

// accept handles the POST of a batch. When it returns without an error, the batch and its records
// are durable. Workers process the records afterwards.
func (w *worker) accept(c *httpapi.Call) (httpapi.Response, error) {
	if c.World == schema.Sandbox {
		leave, err := w.enterSandbox(c.Context())
		if err != nil {
			return httpapi.Response{}, err
		}
		defer leave()
	}
	parsed, err := body.Parse(c, w.kind.Array)
	if err != nil {
		return httpapi.Response{}, err
	}
	sum := w.Cipher.Digest("batch", c.Body)
	resp, err := w.Change(func(c *httpapi.Call, tx *sqlstore.Tx) (httpapi.Response, audit.Entry, error) {
		return w.store(c, tx, parsed, sum)
	})(c)
	if err != nil || resp.Replayed {
		return resp, err
	}
	failpoint.Point(failpoint.BatchAccepted)
	w.metrics.accepted.Inc()
	c.Count = int64(parsed.Total)
	return resp, nil
}

// enterSandbox waits while this instance accepts another sandbox batch. It fails if ctx ends first. The caller must
// call the returned function when its batch is stored or rejected. Parsing 10,000 records occupies a core for about
// 20 ms. Without the wait, forty concurrent sandbox batches would slow down live calls.
func (s *Service) enterSandbox(ctx context.Context) (leave func(), err error) {
	select {
	case s.sandboxSlot <- struct{}{}:
		return func() { <-s.sandboxSlot }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// store stores a new batch and returns the reply. If its ref_id was used before, the reply is that of replyToRepeat.
func (w *worker) store(c *httpapi.Call, tx *sqlstore.Tx, parsed body.Body, sum []byte) (httpapi.Response, audit.Entry, error) {
	now := w.Now()
	id := w.kind.Prefix + ulid.MustNewDefault(now).String()
	client := ""
	if c.Client.IsValid() {
		client = c.Client.String()
	}
	n, err := tx.Exec(insertBatch, id, c.Account, c.World.String(), w.kind.Name, sql.NullString{String: parsed.Ref, Valid: parsed.Ref != ""},
		sum, parsed.Total, c.Key, c.ID, client, now.UnixMicro())
	if err != nil {
		return httpapi.Response{}, audit.Entry{}, fmt.Errorf("storing a batch: %w", err)
	}
	if n == 0 {
		resp, err := w.replyToRepeat(c, tx, parsed.Ref, sum)
		return resp, audit.Entry{}, err
	}
	if err := w.checkAcceptable(c, parsed.Total); err != nil {
		return httpapi.Response{}, audit.Entry{}, err
	}
	if err := w.storeChunks(tx, now, id, c, parsed.Chunks); err != nil {
		return httpapi.Response{}, audit.Entry{}, err
	}
	tx.OnCommit(w.accepted.send)
	return w.acceptedReply(row{id: id, state: schema.BatchQueued, total: parsed.Total}), audit.Entry{
		Action: w.kind.Name + ".batch", Subject: id, Detail: map[string]any{"total": parsed.Total},
	}, nil
}

// checkAcceptable returns an error if no record of this kind can be processed now. Otherwise it reserves `total` calls
// of the account's quota, and returns an error if fewer are left.
func (w *worker) checkAcceptable(c *httpapi.Call, total int) error {
	if w.kind.Ready != nil {
		if err := w.kind.Ready(c.World); err != nil {
			return err
		}
	}
	return c.Reserve(int64(total))
}

// storeChunks stores the records of a batch in chunks that are due immediately.
func (w *worker) storeChunks(tx *sqlstore.Tx, now time.Time, id string, c *httpapi.Call, chunks []body.Chunk) error {
	return insertChunk.Each(len(chunks), func(text string, from, to int) error {
		args := append(make([]any, 0, 4+3*(to-from)), id, w.kind.Name, c.Account, now.UnixMicro())
		for _, p := range chunks[from:to] {
			args = append(args, p.First, p.Count, encryptChunk(w.Cipher, id, p.First, p.Text(c.Body)))
		}
		if _, err := tx.Exec(text, args...); err != nil {
			return fmt.Errorf("storing records %d of a batch: %w", chunks[from].First, err)
		}
		return nil
	})
}

// replyToRepeat returns the reply to a request with the ref_id of an earlier batch. It fails if the
// bodies of the two requests differ.
func (w *worker) replyToRepeat(c *httpapi.Call, tx *sqlstore.Tx, ref string, sum []byte) (httpapi.Response, error) {
	r, err := scanRow(tx.QueryRow(selectByRef, c.Account, c.World.String(), w.kind.Name, ref))
	if err != nil {
		return httpapi.Response{}, fmt.Errorf("reading the batch of a ref_id: %w", err)
	}
	if !bytes.Equal(r.fingerprint, sum) {
		return httpapi.Response{}, schema.NewProblem(schema.DuplicateRefID, "ref_id", "This ref_id was used for another batch.")
	}
	resp := w.acceptedReply(r)
	resp.Replayed = true
	return resp, nil
}

func (w *worker) acceptedReply(r row) httpapi.Response {
	path := w.kind.Path + "/" + r.id
	value := schema.BatchAccepted{Status: schema.Accepted, BatchID: r.id, Total: r.total, StatusURL: path}
	if w.kind.ResultsURL != nil {
		value.State, value.ResultsURL = stateOf(w.kind, &r, w.Now()), w.kind.ResultsURL(r.id)
	}
	return httpapi.Response{Status: http.StatusAccepted, Location: path, Value: value}
}
