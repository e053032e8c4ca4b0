package verify

import (
	"context"
	"time"

	"vayu/internal/sleep"
	"vayu/internal/sqlstore"
	"vayu/internal/workqueue"
	"vayu/pipeline/httpconnector"
	"vayu/pipeline/transaction"
	"vayu/pipeline/verify/request"
	"vayu/schema"
)

const (
	// giveUpEvery is how often the service looks for verifications of banks that are not configured.
	giveUpEvery = time.Minute
	// deleteEvery is the interval between deletions of old verifications.
	deleteEvery = 10 * time.Minute
	// deleteMost is the number of rows per purge transaction. A transaction of this size blocks other writers for a few
	// milliseconds.
	deleteMost = 500
)

// Run makes due calls and purges old verifications until ctx ends. Then it waits for calls in
// flight. If a result could not be recorded, the next call follows when the lease expires.
func (s *Service) Run(ctx context.Context) error {
	if err := s.DB.Ready(ctx); err != nil {
		return nil //nolint:nilerr // ctx ended before the store was ready
	}
	s.Core.RunWith(ctx,
		func(ctx context.Context) { sleep.Repeat(ctx, giveUpEvery, s.checkUnconfigured) },
		func(ctx context.Context) { sleep.Repeat(ctx, deleteEvery, s.deleteOld) })
	return nil
}

// checkUnconfigured logs the numbers of pending verifications of banks that are no longer configured. It gives up those
// of them that are older than GiveUp.
func (s *Service) checkUnconfigured(ctx context.Context) {
	_ = s.Core.EachPending(ctx, func(world schema.World, provider string, pending int64) error { // a failure log has the error
		if s.Core.Link(world, provider) != nil {
			return nil
		}
		s.Log.WarnContext(ctx, "verifications are pending with a bank that is not configured; configure it again, or they will be given up",
			"provider", provider, "world", world.String(), "pending", pending)
		return s.giveUpUnconfigured(ctx, world.String(), provider)
	})
}

const (
	// clearStrandedLeases removes the tokens of expired leases from pending rows of a bank that is not configured.
	// Normally the next claim replaces an expired lease, but no instance claims these rows. giveUpUnconfigured
	// handles only rows without a token.
	clearStrandedLeases = "UPDATE verification SET token = '' WHERE mode = $1 AND provider = $2 AND state = 'pending' AND due_at < $3 AND token <> ''"
	// selectStranded reads the pending verifications of an unconfigured bank that are to be given up.
	selectStranded = "SELECT " + columns + " FROM verification WHERE mode = $1 AND provider = $2 AND state = 'pending' AND due_at < $3 AND created_at <= $4"
)

// giveUpUnconfigured fails old pending verifications of a bank that is not configured.
func (s *Service) giveUpUnconfigured(ctx context.Context, mode, provider string) error {
	now := s.Now()
	err := s.DB.Update(ctx, func(tx *sqlstore.Tx) error {
		_, err := tx.Exec(clearStrandedLeases, mode, provider, now.UnixMicro())
		return err
	})
	if err != nil {
		return err
	}
	old, err := sqlstore.All(s.DB.View(ctx), scanRecord, selectStranded, mode, provider, now.UnixMicro(), now.Add(-s.settings.GiveUp).UnixMicro())
	if err != nil {
		return err
	}
	for i := range old {
		res := providerResult{call: callEnquire, err: httpconnector.ErrNotCalled, calledAt: now, by: actor}
		if _, err := s.settle(ctx, &old[i], &res, workqueue.Lease{}, &request.Private{}); err != nil {
			return err
		}
	}
	return nil
}

const (
	// deleteSingle deletes the oldest verifications that belong to no batch.
	deleteSingle = `DELETE FROM verification WHERE id IN (
		SELECT id FROM verification WHERE batch_id = '' AND finished_at < $1 ORDER BY finished_at LIMIT $2) RETURNING id`
	// deleteBatched deletes the oldest verifications whose batches no longer have an item for them.
	deleteBatched = `DELETE FROM verification WHERE id IN (
		SELECT v.id FROM verification v WHERE v.batch_id <> '' AND v.finished_at < $1
			AND NOT EXISTS (SELECT 1 FROM batch_item i WHERE i.batch_id = v.batch_id AND i.place = v.batch_index)
		ORDER BY v.finished_at LIMIT $2) RETURNING id`
)

// deleteOld purges verifications whose retention has ended. Those of a batch stay while the batch has its results.
func (s *Service) deleteOld(ctx context.Context) {
	if s.settings.Retention == 0 {
		return
	}
	now := s.Now()
	if s.deleteAll(ctx, deleteSingle, now.Add(-s.settings.Retention)) {
		s.deleteAll(ctx, deleteBatched, now.Add(-max(s.settings.Retention, resultsKept)))
	}
}

// deleteAll deletes the rows that ended before a time, with their timelines. `text` is deleteSingle or deleteBatched.
// deleteAll returns false if the store fails.
func (s *Service) deleteAll(ctx context.Context, text string, before time.Time) bool {
	for {
		var n int
		err := s.DB.Update(ctx, func(tx *sqlstore.Tx) error {
			ids, err := sqlstore.All(tx, sqlstore.Scalar[string], text, before.UnixMicro(), deleteMost)
			if err != nil {
				return err
			}
			n = len(ids)
			return transaction.DeleteSteps(tx, ids)
		})
		s.metrics.deletions.Observe(ctx, err)
		if err != nil {
			return false
		}
		s.metrics.deleted.Add(float64(n))
		if n < deleteMost {
			return true
		}
	}
}
