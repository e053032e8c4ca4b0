package recharge

import (
	"context"
	"time"

	"vayu/internal/state"
	"vayu/schema"
)

// waiter is who waits for the outcome of a recharge in this process.
type waiter struct {
	said chan settled // holds the newest
}

// await begins to wait for a recharge that is about to be stored; nil when there is
// nothing to wait for.
func (s *Service) await(id string, wait time.Duration) *waiter {
	if wait <= 0 {
		return nil
	}
	w := &waiter{make(chan settled, 1)}
	s.mu.Lock()
	s.waiting[id] = w
	s.mu.Unlock()
	return w
}

// forget ends a wait.
func (s *Service) forget(id string) {
	s.mu.Lock()
	delete(s.waiting, id)
	s.mu.Unlock()
}

// tell has whoever waits look at what a recharge has become.
func (s *Service) tell(out *settled) {
	if out.verdict == rest {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.waiting[out.ID]
	if w == nil {
		return
	}
	select {
	case <-w.said: // there is something newer
	default:
	}
	w.said <- *out
}

// watch waits for the outcome of a recharge, and tells that it is pending when that
// does not come in time.
func (s *Service) watch(ctx context.Context, r Record, w *waiter, wait time.Duration) Record {
	began := time.Now()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		select {
		case out := <-w.said:
			r = out.Record
			if r.State != schema.RechargePending {
				return r
			}
			if out.verdict != again || out.due.Sub(s.Now()) <= wait-time.Since(began) {
				continue // somebody looks at it before that
			}
			if r.ToldPending {
				return r
			}
		case <-timer.C:
		case <-ctx.Done():
		}
		return s.tellPending(ctx, r)
	}
}

// tellPending tells once that a recharge is pending, unless it is not any more, and
// returns how it stands.
func (s *Service) tellPending(ctx context.Context, r Record) Record {
	limit, done := context.WithTimeout(context.WithoutCancel(ctx), settleMost)
	defer done()
	err := s.DB.Update(limit, func(tx *state.Tx) error {
		now, found, err := one(tx, "UPDATE recharge SET told_pending = 1 WHERE id = $1 AND state = 'pending' AND told_pending = 0 RETURNING "+columns, r.ID)
		if err != nil {
			return err
		}
		if found {
			r = now
			return s.append(tx, &r)
		}
		now, found, err = one(tx, selectByID, r.ID)
		if found {
			r = now
		}
		return err
	})
	s.metrics.records.Tell(limit, err) // it is as it was last seen
	return r
}
