package upstream

import (
	"slices"
	"sync"
)

// Waiters are those who wait in this process for what becomes of things, by id.
type Waiters[T any] struct {
	mu      sync.Mutex
	waiting map[string][]*Waiter[T]
	ended   chan struct{} // closed when nobody may wait any more
	end     func()
}

// Waiter waits for one thing. Several may wait for the same.
type Waiter[T any] struct {
	Said chan T // holds the newest
}

// NewWaiters returns none.
func NewWaiters[T any]() *Waiters[T] {
	w := &Waiters[T]{waiting: map[string][]*Waiter[T]{}, ended: make(chan struct{})}
	w.end = sync.OnceFunc(func() { close(w.ended) })
	return w
}

// Await begins to wait.
func (w *Waiters[T]) Await(id string) *Waiter[T] {
	one := &Waiter[T]{make(chan T, 1)}
	w.mu.Lock()
	w.waiting[id] = append(w.waiting[id], one)
	w.mu.Unlock()
	return one
}

// Forget ends a wait.
func (w *Waiters[T]) Forget(id string, one *Waiter[T]) {
	w.mu.Lock()
	defer w.mu.Unlock()
	left := slices.DeleteFunc(w.waiting[id], func(other *Waiter[T]) bool { return other == one })
	if len(left) == 0 {
		delete(w.waiting, id)
		return
	}
	w.waiting[id] = left
}

// Tell tells everybody who waits for an id.
func (w *Waiters[T]) Tell(id string, what T) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, one := range w.waiting[id] {
		select {
		case <-one.Said: // there is something newer
		default:
		}
		one.Said <- what
	}
}

// End has whoever waits go without an answer, now and from here on. It may be called
// more than once.
func (w *Waiters[T]) End() { w.end() }

// Ended is closed by End.
func (w *Waiters[T]) Ended() <-chan struct{} { return w.ended }

// Counts are how many wait, by id.
func (w *Waiters[T]) Counts() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := make(map[string]int, len(w.waiting))
	for id, all := range w.waiting {
		out[id] = len(all)
	}
	return out
}
