package recharge

import (
	"context"
	"time"

	"vayu/internal/sqlstore"
	"vayu/pipeline/upstream"
	"vayu/schema"
)

// EndWaits has whoever waits for an outcome go without it, now and from here on: a
// server that stops has no time for clients who would wait for half a minute. It may
// be called more than once.
func (s *Service) EndWaits() { s.waits.End() }

// tell has everybody who waits look at what a recharge has become.
func (s *Service) tell(out *settled) {
	if out.verdict != rest {
		s.waits.Tell(out.ID, *out)
	}
}

// rereadEvery is how often a patient wait looks at the row: another instance may have
// been told the outcome.
const rereadEvery = time.Second

// watch waits for the outcome of a recharge that is pending, and returns how it stands
// when there is one, or the wait is over. A patient wait lasts as long as it says; any
// other ends when nobody looks at the recharge before its end.
func (s *Service) watch(ctx context.Context, r Record, w *upstream.Waiter[settled], wait time.Duration, patient bool) Record {
	end := s.Now().Add(wait)
	timer := time.NewTimer(wait)
	defer timer.Stop()
	var reread <-chan time.Time
	if patient {
		ticker := time.NewTicker(rereadEvery)
		defer ticker.Stop()
		reread = ticker.C
	}
	for r.State == schema.RechargePending {
		select {
		case out := <-w.Said:
			r = out.Record
			if !patient && out.verdict == again && out.due.After(end) {
				return r
			}
		case <-reread:
			r = s.reread(ctx, r)
		case <-timer.C:
			return r
		case <-ctx.Done():
			return r
		case <-s.waits.Ended():
			return r
		}
	}
	return r
}

// reread is how a recharge stands that was pending: most are, and then only its state
// is read.
func (s *Service) reread(ctx context.Context, r Record) Record {
	view := s.DB.View(ctx)
	var now schema.RechargeState
	err := view.QueryRow("SELECT state FROM recharge WHERE id = $1", r.ID).Scan(&now)
	if err == nil && now != schema.RechargePending {
		var found Record
		if found, _, err = one(view, selectByID, r.ID); err == nil {
			r = found
		}
	}
	s.metrics.rereads.Tell(ctx, err)
	return r
}

// replay waits for the outcome of a recharge that was made before, when whoever asks
// for it again wants to wait. It leaves the recharge as it is.
func (s *Service) replay(ctx context.Context, r Record, wait time.Duration, patient bool) Record {
	if r.State != schema.RechargePending || !patient || wait <= 0 {
		return r
	}
	w := s.waits.Await(r.ID)
	defer s.waits.Forget(r.ID, w)
	return s.watch(ctx, s.reread(ctx, r), w, wait, true) // it may have ended before anybody waited
}

// tellPending tells once that a recharge is pending, unless it is not any more, and
// returns how it stands.
func (s *Service) tellPending(ctx context.Context, r Record) Record {
	limit, done := context.WithTimeout(context.WithoutCancel(ctx), upstream.Recording)
	defer done()
	err := s.DB.Update(sqlstore.InWorld(limit, r.Owner.World), func(tx *sqlstore.Tx) error {
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
