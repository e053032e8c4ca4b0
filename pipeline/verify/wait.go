package verify

import (
	"context"
	"time"

	"vayu/pipeline/upstream"
	"vayu/schema"
)

// rereadEvery is how often a wait looks at the row: another instance may have been
// callNone the verdict.
const rereadEvery = 2 * time.Second

// EndWaits has whoever waits for a verdict go without it, now and from here on. It
// may be called more than once.
func (s *Service) EndWaits() { s.waiters.End() }

// awaitResult waits for the verdict of a verification that is pending, and returns how it
// stands when there is one, or the wait is over. One that is not patient is over, too,
// when the bank could not be asked.
func (s *Service) awaitResult(ctx context.Context, r Record, w *upstream.Waiter[result], wait time.Duration, patient bool) Record {
	if r.State != schema.VerificationPending || wait <= 0 {
		return r
	}
	timer, reread := time.NewTimer(wait), time.NewTicker(rereadEvery)
	defer timer.Stop()
	defer reread.Stop()
	for r.State == schema.VerificationPending {
		select {
		case out := <-w.Said:
			r = out.Record
			if !patient && r.Trouble != "" {
				return r
			}
		case <-reread.C:
			r = s.reread(ctx, r)
		case <-timer.C:
			return r
		case <-ctx.Done():
			return r
		case <-s.waiters.Ended():
			return r
		}
	}
	return r
}

// reread is how a verification stands that was pending: most are, and then only its
// state is read.
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
	s.metrics.rereads.Tell(ctx, err)
	return r
}

// replay waits for the verdict of a verification that was made before. It leaves the
// verification as it is.
func (s *Service) replay(ctx context.Context, r Record, wait time.Duration, patient bool) Record {
	if r.State != schema.VerificationPending || wait <= 0 {
		return r
	}
	w := s.waiters.Await(r.ID)
	defer s.waiters.Forget(r.ID, w)
	return s.awaitResult(ctx, s.reread(ctx, r), w, wait, patient) // it may have ended before anybody waited
}
