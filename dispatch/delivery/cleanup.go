package delivery

import (
	"context"
	"errors"
	"fmt"
	"time"

	"vayu/internal/sqlstore"
)

const (
	// cancelEvery is how often deliveries of deleted subscriptions are cancelled.
	cancelEvery = time.Second
	// recent limits the search that runs every cancelEvery: it finds only subscriptions that were deleted within this
	// period. The search that runs every sweepEvery finds all deleted subscriptions.
	recent = 2 * sweepEvery
	// sweepEvery is the interval of searches for all deleted subscriptions, and of purges.
	sweepEvery = time.Minute
	// retention is how long finished deliveries are kept.
	retention = 30 * 24 * time.Hour
	// cleanGroup is the maximum number of deliveries that one transaction changes. On SQLite all other writes wait for
	// the transaction. With so few deliveries it takes only milliseconds.
	cleanGroup = 500
)

// Run cancels deliveries of deleted subscriptions, and limits the backlogs of paused and dead endpoints. It alerts
// accounts whose endpoints fail. It purges deliveries 30 days after they finished. After an error of the store, Run
// retries. It returns when ctx ends.
func (s *Service) Run(ctx context.Context) error {
	tick := time.NewTicker(cancelEvery)
	defer tick.Stop()
	var swept time.Time
	// After a restart, all endpoints first get time to acknowledge deliveries before Run limits backlogs.
	bounded := s.Now()
	w := watcher{Service: s, looked: bounded, until: bounded.Add(-failingAfter)}
	for {
		now := s.Now()
		since, sweep := now.Add(-recent), now.Sub(swept) >= sweepEvery
		if sweep {
			since = time.Time{}
		}
		err := s.cancelDeleted(ctx, since)
		if err == nil && now.Sub(bounded) >= boundEvery {
			err = s.bound(ctx)
			bounded = now
		}
		if err == nil && sweep {
			err = errors.Join(s.purge(ctx), s.purgeBacklogs(ctx))
		}
		if now.Sub(w.looked) >= watchEvery {
			err = errors.Join(err, w.look(ctx, now))
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			s.metrics.failures.Inc()
			s.Log.Warn("cleaning up deliveries", "error", err)
		case sweep:
			swept = now
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

const (
	// selectOrphaned finds subscriptions that were deleted at or after $1 and still have a waiting delivery that can be
	// cancelled. Such a delivery has no lease, or one that has expired at $2.
	selectOrphaned = `SELECT w.id FROM webhook w WHERE w.deleted_at >= $1 AND EXISTS
		(SELECT 1 FROM delivery d WHERE d.webhook_id = w.id AND d.state = 'waiting' AND (d.token = '' OR d.due_at <= $2))`
	// cancelOrphans repeats the conditions of its subquery, because on PostgreSQL a row may change between the
	// subquery and the lock of the update.
	cancelOrphans = `UPDATE delivery SET state = 'cancelled', token = '', finished_at = $2 WHERE id IN
		(SELECT d.id FROM delivery d WHERE d.webhook_id = $1 AND d.state = 'waiting' AND (d.token = '' OR d.due_at <= $2) ORDER BY d.due_at LIMIT $3)
		AND state = 'waiting' AND (token = '' OR due_at <= $2)`
)

// scanID reads an id. Its result is of type any, because callers pass ids as arguments to statements.
func scanID(row sqlstore.Scanner) (any, error) {
	var id string
	err := row.Scan(&id)
	return id, err
}

// cancelDeleted cancels the waiting deliveries of subscriptions that were deleted at or after a time. It skips a
// delivery with an attempt in progress. If the receiver does not acknowledge that attempt, a later call cancels the
// delivery.
func (s *Service) cancelDeleted(ctx context.Context, since time.Time) error {
	now := s.Now().UnixMicro()
	orphaned, err := sqlstore.All(s.DB.View(ctx), scanID, selectOrphaned, since.UnixMicro(), now)
	if err != nil {
		return fmt.Errorf("reading deleted subscriptions: %w", err)
	}
	for _, webhook := range orphaned {
		for n := int64(cleanGroup); n == cleanGroup; {
			err := s.DB.Update(ctx, func(tx *sqlstore.Tx) (err error) {
				n, err = tx.Exec(cancelOrphans, webhook, now, cleanGroup)
				return err
			})
			if err != nil {
				return fmt.Errorf("cancelling deliveries of %s: %w", webhook, err)
			}
			s.metrics.cancelled.Add(float64(n))
		}
	}
	return nil
}

// selectOver uses the index delivery_finished to find the deliveries whose retention has ended.
const selectOver = "SELECT id FROM delivery WHERE finished_at IS NOT NULL AND finished_at <= $1 ORDER BY finished_at LIMIT $2"

var (
	deleteAttempts = sqlstore.NewBatchStatement(0, "DELETE FROM attempt WHERE delivery_id IN (", "?", ")")
	deleteDelivery = sqlstore.NewBatchStatement(0, "DELETE FROM delivery WHERE id IN (", "?", ")")
)

// purge deletes the deliveries that finished at least 30 days ago, one group at a time.
func (s *Service) purge(ctx context.Context) error {
	until := s.Now().Add(-retention).UnixMicro()
	for {
		// This query runs outside of a write transaction. So if there is nothing to purge, no other write has to wait.
		over, err := sqlstore.All(s.DB.View(ctx), scanID, selectOver, until, cleanGroup)
		if err != nil {
			return fmt.Errorf("reading expired deliveries: %w", err)
		}
		if len(over) == 0 {
			return nil
		}
		var gone int64
		err = s.DB.Update(ctx, func(tx *sqlstore.Tx) error {
			gone = 0
			return deleteAttempts.Each(len(over), func(text string, from, to int) error {
				if _, err := tx.Exec(text, over[from:to]...); err != nil {
					return err
				}
				n, err := tx.Exec(deleteDelivery.ForRows(to-from), over[from:to]...)
				gone += n
				return err
			})
		})
		if err != nil {
			return fmt.Errorf("deleting %d deliveries: %w", len(over), err)
		}
		s.metrics.purged.Add(float64(gone))
		if len(over) < cleanGroup {
			return nil
		}
	}
}
