package transaction

import (
	"context"
	"time"
)

// Update is the newest state of a transaction.
type Update[R any] struct {
	Record R
	Retry  time.Time // time of the scheduled retry after a result that is not final; else zero
}

// Await waits until a pending transaction is final, at most for the duration `wait`, and returns the newest record. It
// returns early if ctx ends, after [Waiters.Close], or after an update for which `enough` returns true.
func (c *Core[R, P]) Await(ctx context.Context, r R, updates <-chan Update[R], wait time.Duration, enough func(Update[R]) bool) R {
	if wait <= 0 || P(&r).Status() != pendingState {
		return r
	}
	timer, reread := time.NewTimer(wait), time.NewTicker(c.kind.Reread)
	defer timer.Stop()
	defer reread.Stop()
	for P(&r).Status() == pendingState {
		select {
		case u := <-updates:
			if r = u.Record; enough(u) {
				return r
			}
		case <-reread.C:
			r = c.reread(ctx, r)
		case <-timer.C:
			return r
		case <-ctx.Done():
			return r
		case <-c.Waiters.Closed():
			return r
		}
	}
	return r
}

// reread reads the current state of a pending transaction. If the state is no longer pending, reread returns the
// current row. If the state is pending, or the store fails, it returns r.
func (c *Core[R, P]) reread(ctx context.Context, r R) R {
	view, id := c.DB.View(ctx), P(&r).Shared().ID
	var now string
	err := view.QueryRow("SELECT state FROM "+c.kind.Name+" WHERE id = $1", id).Scan(&now)
	if err == nil && now != pendingState {
		var found R
		if found, _, err = c.kind.Get(view, id); err == nil {
			r = found
		}
	}
	c.Metrics.rereads.Observe(ctx, err)
	return r
}

// AwaitReplayed waits like Await for a transaction that an earlier request created.
func (c *Core[R, P]) AwaitReplayed(ctx context.Context, r R, wait time.Duration, enough func(Update[R]) bool) R {
	if wait <= 0 || P(&r).Status() != pendingState {
		return r
	}
	updates, remove := c.Waiters.Add(P(&r).Shared().ID)
	defer remove()
	return c.Await(ctx, c.reread(ctx, r), updates, wait, enough) // r may have finished before Add
}

// Notify sends a result to all waiters of an id.
func (w *Waiters[T]) Notify(id string, result T) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, one := range w.waiting[id] {
		select {
		case <-one: // discard the older result
		default:
		}
		one <- result
	}
}
