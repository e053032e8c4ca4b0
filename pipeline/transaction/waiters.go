package transaction

import (
	"context"
	"slices"
	"sync"
)

// Waiters are the goroutines of this process that wait for results of transactions, by id.
type Waiters[T any] struct {
	mu      sync.Mutex
	waiting map[string][]chan T
	closed  context.Context //nolint:containedctx // ends with Close
	// Close ends all current and future waits. It is idempotent.
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

// Add registers a waiter for an id. An id may have several waiters. The channel holds only the newest result of the id.
// The caller must call `remove` when it needs no more results.
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
