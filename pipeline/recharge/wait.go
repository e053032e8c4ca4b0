package recharge

import (
	"context"
	"time"

	"vayu/internal/sqlstore"
	"vayu/internal/workqueue"
	"vayu/pipeline/transaction"
	"vayu/schema"
)

// CloseWaiters ends all waits for results, current and future ones, so that a stopping
// server does not wait for clients. It is idempotent.
func (s *Service) CloseWaiters() { s.waiters.Close() }

// notifyWaiters sends a result to the goroutines that wait for the recharge.
func (s *Service) notifyWaiters(out *result) {
	if out.transition != noop {
		s.waiters.Notify(out.ID, *out)
	}
}

// reloadInterval is how often a full wait reads the row, because another instance may have
// received the outcome.
const reloadInterval = time.Second

// awaitResult waits for a pending recharge and returns its state at the end of the wait. A
// full wait ends when the recharge is final, or after the given time. Any other wait also
// ends once the next poll is scheduled after that time.
func (s *Service) awaitResult(ctx context.Context, r Record, w *transaction.Waiter[result], wait time.Duration, full bool) Record {
	end := s.Now().Add(wait)
	timer := time.NewTimer(wait)
	defer timer.Stop()
	var reread <-chan time.Time
	if full {
		ticker := time.NewTicker(reloadInterval)
		defer ticker.Stop()
		reread = ticker.C
	}
	for r.State == schema.RechargePending {
		select {
		case out := <-w.Updates:
			r = out.Record
			if !full && out.transition == retryLater && out.due.After(end) {
				return r
			}
		case <-reread:
			r = s.reload(ctx, r)
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

// reload returns the current state of a pending recharge. It reads the whole row only if
// the state has changed.
func (s *Service) reload(ctx context.Context, r Record) Record {
	view := s.DB.View(ctx)
	var now schema.RechargeState
	err := view.QueryRow("SELECT state FROM recharge WHERE id = $1", r.ID).Scan(&now)
	if err == nil && now != schema.RechargePending {
		var found Record
		if found, _, err = queryOne(view, selectByID, r.ID); err == nil {
			r = found
		}
	}
	s.metrics.rereads.Observe(ctx, err)
	return r
}

// awaitReplayed waits for a recharge that an earlier request made, if this request has
// WaitFull.
func (s *Service) awaitReplayed(ctx context.Context, r Record, wait time.Duration, full bool) Record {
	if r.State != schema.RechargePending || !full || wait <= 0 {
		return r
	}
	w := s.waiters.Add(r.ID)
	defer s.waiters.Remove(r.ID, w)
	return s.awaitResult(ctx, s.reload(ctx, r), w, wait, true) // it may have finished before the waiter was added
}

// sendPendingEvent appends the event recharge.pending once if the recharge is still pending,
// and returns the current row.
func (s *Service) sendPendingEvent(ctx context.Context, r Record) Record {
	limit, done := context.WithTimeout(context.WithoutCancel(ctx), workqueue.RecordTimeout)
	defer done()
	err := s.DB.Update(sqlstore.WithWorld(limit, r.Owner.World), func(tx *sqlstore.Tx) error {
		now, found, err := queryOne(tx, "UPDATE recharge SET told_pending = 1 WHERE id = $1 AND state = 'pending' AND told_pending = 0 RETURNING "+columns, r.ID)
		if err != nil {
			return err
		}
		if found {
			r = now
			return s.append(tx, &r)
		}
		now, found, err = queryOne(tx, selectByID, r.ID)
		if found {
			r = now
		}
		return err
	})
	s.metrics.records.Observe(limit, err) // after an error r is the row as last read
	return r
}
