package batch

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"vayu/internal/sqlstore"
	"vayu/pipeline/batch/item"
	"vayu/schema"
)

// stateOf returns the state of a batch at the time `now`. The state "expired" is computed here and never stored.
func stateOf(k *item.Kind, r *row, now time.Time) schema.BatchState {
	if k.IsExpired(r.finished, now) {
		return schema.BatchExpired
	}
	return r.state
}

// expiredBefore returns `now` minus the retention, in Unix microseconds. A batch that completed by then is expired.
func expiredBefore(k *item.Kind, now time.Time) string {
	return strconv.FormatInt(now.Add(-k.Retention).UnixMicro(), 10)
}

// keptReply returns the URL and expiry of the results for a reply; nil if the kind has neither.
func keptReply(k *item.Kind, r *row) *schema.BatchRetention {
	if k.Retention == 0 && k.ResultsURL == nil {
		return nil
	}
	out := &schema.BatchRetention{}
	if k.ResultsURL != nil {
		out.ResultsURL = k.ResultsURL(r.id)
	}
	if at := k.ExpiresAt(r.finished); !at.IsZero() {
		text := schema.FormatTime(at)
		out.ExpiresAt = &text
	}
	return out
}

// expiredError returns the error for the client if the results of a batch have expired, otherwise nil.
func expiredError(k *item.Kind, r *row, now time.Time) error {
	if !k.IsExpired(r.finished, now) {
		return nil
	}
	return schema.NewProblem(schema.ResultsExpired, "id", "The results of this batch expired at "+schema.FormatTime(k.ExpiresAt(r.finished))+".")
}

// These statements delete items of expired batches. They skip a batch that still has a chunk, for example one that a
// killed process had leased. The items of the batch then show which records of the chunk have begun, so they are
// still needed.
const (
	selectExpired = `SELECT b.id FROM batch b WHERE b.kind = $1 AND b.finished_at IS NOT NULL AND b.emptied_at IS NULL AND b.finished_at <= $2
		AND NOT EXISTS (SELECT 1 FROM batch_chunk c WHERE c.batch_id = b.id) ORDER BY b.finished_at LIMIT 1`
	// lockForPurge locks the row of a batch, so that two instances do not purge it concurrently.
	lockForPurge = "UPDATE batch SET emptied_at = NULL WHERE id = $1 AND emptied_at IS NULL"
	firstItem    = "SELECT place FROM batch_item WHERE batch_id = $1 ORDER BY place LIMIT 1"
	deleteItems  = "DELETE FROM batch_item WHERE batch_id = $1 AND place < $2"
	setPurged    = "UPDATE batch SET emptied_at = $2 WHERE id = $1"
)

// purgeBatchSize limits the items that one transaction deletes. On SQLite, other writers wait a few milliseconds for a
// transaction of this size.
const purgeBatchSize = 500

// purge deletes the items of batches that expired at least purgeDelay ago, until none are left or the store fails.
func (w *worker) purge(ctx context.Context) {
	for more := w.kind.Retention > 0; more && ctx.Err() == nil; {
		emptied := ""
		err := w.DB.Update(ctx, func(tx *sqlstore.Tx) (err error) {
			more, emptied, err = w.purgeSome(tx)
			return err
		})
		w.storeFailures.Observe(ctx, err)
		if err != nil {
			return
		}
		if emptied != "" {
			w.metrics.purged.Inc()
			w.Log.InfoContext(ctx, "the expired results of a batch were deleted", slog.String("batch", emptied))
		}
	}
}

// purgeSome deletes up to purgeBatchSize items of the batch that selectExpired finds. `more` is true if there is such a
// batch. If the batch has no items left, purgeSome marks it as purged and returns its id as `emptied`, otherwise "".
func (w *worker) purgeSome(tx *sqlstore.Tx) (more bool, emptied string, err error) {
	now := w.Now()
	id, found, err := sqlstore.One(tx, sqlstore.Scalar[string], selectExpired, w.kind.Name, now.Add(-w.kind.Retention-w.timing.purgeDelay).UnixMicro())
	if err != nil || !found {
		return false, "", err
	}
	if n, err := tx.Exec(lockForPurge, id); n == 0 || err != nil {
		return err == nil, "", err // another instance has just purged the batch
	}
	first, found, err := sqlstore.One(tx, sqlstore.Scalar[int], firstItem, id)
	switch {
	case found:
		_, err = tx.Exec(deleteItems, id, first+purgeBatchSize)
	case err == nil:
		_, err = tx.Exec(setPurged, id, now.UnixMicro())
		emptied = id
	}
	if err != nil {
		err = fmt.Errorf("deleting the items of %s: %w", id, err)
	}
	return true, emptied, err
}
