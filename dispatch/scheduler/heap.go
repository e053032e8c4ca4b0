package scheduler

import (
	"container/heap"
	"time"
)

// timed is an element of a timeHeap. The method `at` returns the time by which the heap orders its elements. The method
// `position` points to the element's index in the heap, which is -1 outside of the heap.
type timed interface {
	at() time.Time
	position() *int
}

// timeHeap is a heap of lanes or hosts. The element with the earliest time is the first.
type timeHeap[E timed] struct{ all []E }

func (h *timeHeap[E]) first() (e E) {
	if len(h.all) > 0 {
		e = h.all[0]
	}
	return e
}

// update inserts an element into the heap, or moves it after a change of its time. If `in` is false, update removes the
// element.
func (h *timeHeap[E]) update(e E, in bool) {
	switch index := *e.position(); {
	case in && index >= 0:
		heap.Fix(h, index)
	case in:
		heap.Push(h, e)
	case index >= 0:
		heap.Remove(h, index)
	}
}

// Len implements heap.Interface.
func (h *timeHeap[E]) Len() int { return len(h.all) }

// Less implements heap.Interface.
func (h *timeHeap[E]) Less(i, j int) bool { return h.all[i].at().Before(h.all[j].at()) }

// Swap implements heap.Interface.
func (h *timeHeap[E]) Swap(i, j int) {
	h.all[i], h.all[j] = h.all[j], h.all[i]
	*h.all[i].position(), *h.all[j].position() = i, j
}

// Push implements heap.Interface.
func (h *timeHeap[E]) Push(x any) {
	e := x.(E)
	*e.position() = len(h.all)
	h.all = append(h.all, e)
}

// Pop implements heap.Interface.
func (h *timeHeap[E]) Pop() any {
	last := len(h.all) - 1
	e := h.all[last]
	clear(h.all[last:])
	h.all = h.all[:last]
	*e.position() = -1
	return e
}
