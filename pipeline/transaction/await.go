package transaction

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Waiters are the goroutines of this process that wait for results of transactions, by id.
type Waiters[T any] struct {
	mu      sync.Mutex
	waiting map[string][]chan T
	closed  context.Context //nolint:containedctx // ends with Close
	// Close ends all waits, current and future ones. It is idempotent.
	Close func()
}

// NewWaiters returns an empty set of waiters.
func NewWaiters[T any]() *Waiters[T] {
	w := &Waiters[T]{waiting: map[string][]chan T{}}
	w.closed, w.Close = context.WithCancel(context.Background()) //nolint:gosec // the owner calls Close
	return w
}

// Closed returns a channel that is closed when all waits must end.
func (w *Waiters[T]) Closed() <-chan struct{} { return w.closed.Done() }

// Add registers a waiter for an id, which may have several. The channel holds only the newest result of the id. The
// caller must call remove when it needs no more results.
func (w *Waiters[T]) Add(id string) (updates <-chan T, remove func()) {
	one := make(chan T, 1)
	w.mu.Lock()
	w.waiting[id] = append(w.waiting[id], one)
	w.mu.Unlock()
	return one, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.waiting[id] = slices.DeleteFunc(w.waiting[id], func(other chan T) bool { return other == one })
		if len(w.waiting[id]) == 0 {
			delete(w.waiting, id)
		}
	}
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

// Counts returns the number of waiters by id, for tests.
func (w *Waiters[T]) Counts() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := make(map[string]int, len(w.waiting))
	for id, all := range w.waiting {
		out[id] = len(all)
	}
	return out
}

// Update is the newest state of a transaction.
type Update[R any] struct {
	Record R
	Retry  time.Time // time of the scheduled retry after a result that is not final; else zero
}

// Await waits until a pending transaction is final, at most for the duration wait, and returns
// the newest record. It returns early if ctx ends, after [Waiters.Close], or after an update
// for which the function enough returns true.
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

// reread reads the state of a pending transaction. It returns the whole row if the state has
// changed, and otherwise, or after an error, r.
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
