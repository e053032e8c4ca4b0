package verify

import (
	"context"
	"time"

	"vayu/pipeline/transaction"
	"vayu/schema"
)

// rereadEvery is the interval at which a waiting request reads the row, because another instance
// may have recorded the outcome.
const rereadEvery = 2 * time.Second

// CloseWaiters ends all waits for an outcome, including later ones. It is idempotent.
func (s *Service) CloseWaiters() { s.waiters.Close() }

// awaitResult waits until a pending verification ends, for the time wait at most, and returns the
// newest record. Unless patient is set, it also returns after a failed call.
func (s *Service) awaitResult(ctx context.Context, r Record, w *transaction.Waiter[result], wait time.Duration, patient bool) Record {
	if r.State != schema.VerificationPending || wait <= 0 {
		return r
	}
	timer, reread := time.NewTimer(wait), time.NewTicker(rereadEvery)
	defer timer.Stop()
	defer reread.Stop()
	for r.State == schema.VerificationPending {
		select {
		case out := <-w.Updates:
			r = out.Record
			if !patient && r.DelayCode != "" {
				return r
			}
		case <-reread.C:
			r = s.reread(ctx, r)
		case <-timer.C:
			return r
		case <-ctx.Done():
			return r
		case <-s.waiters.Closed():
			return r
		}
	}
	return r
}

// reread reads the current state of a pending verification. It reads the other columns only
// after a change.
func (s *Service) reread(ctx context.Context, r Record) Record {
	view := s.DB.View(ctx)
	var now schema.VerificationState
	err := view.QueryRow("SELECT state FROM verification WHERE id = $1", r.ID).Scan(&now)
	if err == nil && now != schema.VerificationPending {
		var found Record
		if found, _, err = queryOne(view, selectByID, r.ID); err == nil {
			r = found
		}
	}
	s.metrics.rereads.Observe(ctx, err)
	return r
}

// replay waits for the end of a verification that an earlier request created. It changes
// nothing.
func (s *Service) replay(ctx context.Context, r Record, wait time.Duration, patient bool) Record {
	if r.State != schema.VerificationPending || wait <= 0 {
		return r
	}
	w := s.waiters.Add(r.ID)
	defer s.waiters.Remove(r.ID, w)
	return s.awaitResult(ctx, s.reread(ctx, r), w, wait, patient) // the verification may have ended before Add
}
