package batch

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"vayu/internal/sqlstore"
	"vayu/schema"
)

// expires is when the results of a batch expire: zero before it is completed, and when
// they are kept for ever.
func (k *Kind) expires(r *row) time.Time {
	if k.Keep == 0 || !r.finished.Valid {
		return time.Time{}
	}
	return time.UnixMicro(r.finished.Int64).Add(k.Keep)
}

// stateOf is where a batch stands. That its results have expired follows from the
// time, whenever they are deleted.
func (k *Kind) stateOf(r *row, now time.Time) schema.BatchState {
	if at := k.expires(r); !at.IsZero() && !now.Before(at) {
		return schema.BatchExpired
	}
	return r.state
}

// expired is the last completion, in microseconds, of batches that have expired.
func (k *Kind) expired(now time.Time) string {
	return strconv.FormatInt(now.Add(-k.Keep).UnixMicro(), 10)
}

// states are those that a batch of a kind can have.
func (k *Kind) states() []schema.BatchState {
	if k.Keep == 0 {
		return []schema.BatchState{schema.BatchQueued, schema.BatchProcessing, schema.BatchCompleted}
	}
	return schema.BatchStates
}

// statesText is them for people.
func (k *Kind) statesText() string {
	if k.Keep == 0 {
		return "queued, processing or completed"
	}
	return "queued, processing, completed or expired"
}

// kept is what replies say of where the results are and how long; nil for nothing.
func (k *Kind) kept(r *row) *schema.BatchKept {
	if k.Keep == 0 && k.ResultsURL == nil {
		return nil
	}
	out := &schema.BatchKept{}
	if k.ResultsURL != nil {
		out.ResultsURL = k.ResultsURL(r.id)
	}
	if at := k.expires(r); !at.IsZero() {
		text := instant(at.UnixMicro())
		out.ExpiresAt = &text
	}
	return out
}

// gone is the refusal of results that have expired; nil of those that have not.
func (k *Kind) gone(r *row, now time.Time) error {
	if k.stateOf(r, now) != schema.BatchExpired {
		return nil
	}
	return schema.Refuse(schema.ResultsExpired, "id", "The results of this batch were kept until "+instant(k.expires(r).UnixMicro())+".")
}

// What is deleted of a batch that has expired. One that has a chunk is left alone: its
// items say which records of it were begun, and a process that was killed before it
// could delete the chunk may have been away for as long as results are kept.
const (
	selectExpired = `SELECT b.id FROM batch b WHERE b.kind = $1 AND b.finished_at IS NOT NULL AND b.emptied_at IS NULL AND b.finished_at <= $2
		AND NOT EXISTS (SELECT 1 FROM batch_chunk c WHERE c.batch_id = b.id) ORDER BY b.finished_at LIMIT 1`
	// lockKept has others wait that would delete the same.
	lockKept    = "UPDATE batch SET emptied_at = NULL WHERE id = $1 AND emptied_at IS NULL"
	firstItem   = "SELECT place FROM batch_item WHERE batch_id = $1 ORDER BY place LIMIT 1"
	deleteItems = "DELETE FROM batch_item WHERE batch_id = $1 AND place < $2"
	setEmptied  = "UPDATE batch SET emptied_at = $2 WHERE id = $1"
)

// deletedAtOnce bounds how many items are deleted in one transaction: some
// milliseconds, in which others wait for the writer of SQLite.
const deletedAtOnce = 500

// empty deletes items of batches that have expired, as long as there are some.
func (w *worker) empty(ctx context.Context) {
	if w.kind.Keep == 0 {
		return
	}
	w.once("empty", func() func() {
		for more := true; more && ctx.Err() == nil; {
			emptied := ""
			err := w.DB.Update(ctx, func(tx *sqlstore.Tx) (err error) {
				more, emptied, err = w.emptySome(tx)
				return err
			})
			w.store.Tell(ctx, err)
			if err != nil {
				break
			}
			if emptied != "" {
				w.metrics.emptied.Inc()
				w.Log.InfoContext(ctx, "the results of a batch have expired, and are deleted", slog.String("batch", emptied))
			}
		}
		return func() {}
	})
}

// emptySome deletes some items of the batch that has expired first. More says that
// there was one, and emptied is its id when nothing is left of it.
func (w *worker) emptySome(tx *sqlstore.Tx) (more bool, emptied string, err error) {
	now := w.Now()
	var id string
	err = tx.QueryRow(selectExpired, w.kind.Name, now.Add(-w.kind.Keep-w.pace.linger).UnixMicro()).Scan(&id)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return false, "", nil
	case err != nil:
		return false, "", fmt.Errorf("looking for batches that have expired: %w", err)
	}
	if n, err := tx.Exec(lockKept, id); n == 0 || err != nil {
		return err == nil, "", err // another instance has just done it
	}
	var first int
	err = tx.QueryRow(firstItem, id).Scan(&first)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		_, err = tx.Exec(setEmptied, id, now.UnixMicro())
		emptied = id
	case err == nil:
		_, err = tx.Exec(deleteItems, id, first+deletedAtOnce)
	}
	if err != nil {
		err = fmt.Errorf("deleting what is kept of %s: %w", id, err)
	}
	return true, emptied, err
}
