package scheduler

import (
	"container/list"
)

// fifo is a first-in, first-out queue. An empty queue keeps a small slice for reuse.
type fifo[E any] struct {
	items []E
	head  int
}

func (f *fifo[E]) len() int    { return len(f.items) - f.head }
func (f *fifo[E]) empty() bool { return f.head == len(f.items) }

func (f *fifo[E]) push(e E) {
	if f.head > maxBuffered { // bounds the memory of a queue that never becomes empty
		f.items = append(f.items[:0], f.items[f.head:]...)
		f.head = 0
	}
	f.items = append(f.items, e)
}

func (f *fifo[E]) pop() E {
	var zero E
	e := f.items[f.head]
	f.items[f.head] = zero
	if f.head++; f.head == len(f.items) {
		f.head = 0
		if f.items = f.items[:0]; cap(f.items) > maxBuffered/8 {
			f.items = nil
		}
	}
	return e
}

// ring is a round-robin list of lanes.
type ring[T any] struct{ list list.List }

func (r *ring[T]) pop() *lane[T] {
	front := r.list.Front()
	if front == nil {
		return nil
	}
	l := front.Value.(*lane[T])
	l.sendEntry.leave()
	return l
}

func (r *ring[T]) front() *lane[T] { return r.list.Front().Value.(*lane[T]) }

// ringEntry is the position of a lane in a ring. The zero value means that the lane is in no ring.
type ringEntry[T any] struct {
	ring *ring[T]
	at   *list.Element
}

func (t *ringEntry[T]) join(r *ring[T], l *lane[T]) {
	if t.ring == nil {
		t.ring, t.at = r, r.list.PushBack(l)
	}
}

func (t *ringEntry[T]) in() bool { return t.ring != nil }

func (t *ringEntry[T]) leave() {
	if t.ring != nil {
		t.ring.list.Remove(t.at)
		t.ring, t.at = nil, nil
	}
}
