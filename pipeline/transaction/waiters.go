package transaction

import (
	"slices"
	"sync"
)

// Waiters are the goroutines of this process that wait for results of transactions, by id.
type Waiters[T any] struct {
	mu        sync.Mutex
	waiting   map[string][]*Waiter[T]
	closed    chan struct{} // closed by Close
	closeOnce func()
}

// Waiter waits for the results of one id. An id may have several waiters.
type Waiter[T any] struct {
	Updates chan T // holds only the newest result
}

// NewWaiters returns an empty set of waiters.
func NewWaiters[T any]() *Waiters[T] {
	w := &Waiters[T]{waiting: map[string][]*Waiter[T]{}, closed: make(chan struct{})}
	w.closeOnce = sync.OnceFunc(func() { close(w.closed) })
	return w
}

// Add registers a waiter for an id. The results of the id arrive in Updates until Remove.
func (w *Waiters[T]) Add(id string) *Waiter[T] {
	one := &Waiter[T]{make(chan T, 1)}
	w.mu.Lock()
	w.waiting[id] = append(w.waiting[id], one)
	w.mu.Unlock()
	return one
}

// Remove removes a waiter that needs no more results.
func (w *Waiters[T]) Remove(id string, one *Waiter[T]) {
	w.mu.Lock()
	defer w.mu.Unlock()
	left := slices.DeleteFunc(w.waiting[id], func(other *Waiter[T]) bool { return other == one })
	if len(left) == 0 {
		delete(w.waiting, id)
		return
	}
	w.waiting[id] = left
}

// Close ends all waits, current and future ones. It is idempotent.
func (w *Waiters[T]) Close() { w.closeOnce() }

// Closed returns a channel that is closed when all waits must end.
func (w *Waiters[T]) Closed() <-chan struct{} { return w.closed }

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
