package scheduler

import (
	"container/heap"
	"container/list"
	"time"
)

// fifo is a first-in, first-out queue that keeps its memory while it is small.
type fifo[E any] struct {
	items []E
	head  int
}

func (f *fifo[E]) len() int    { return len(f.items) - f.head }
func (f *fifo[E]) empty() bool { return f.head == len(f.items) }

func (f *fifo[E]) push(e E) {
	if f.head > mostHeld { // a queue that is never empty must not grow for ever
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
		if f.items = f.items[:0]; cap(f.items) > mostHeld/8 {
			f.items = nil
		}
	}
	return e
}

// ring is lanes in the order of their turns.
type ring[T any] struct{ list list.List }

func (r *ring[T]) pop() *lane[T] {
	front := r.list.Front()
	if front == nil {
		return nil
	}
	l := front.Value.(*lane[T])
	l.turn.leave()
	return l
}

func (r *ring[T]) front() *lane[T] { return r.list.Front().Value.(*lane[T]) }

// turn is the place of a lane in a ring; the zero value is in none.
type turn[T any] struct {
	ring *ring[T]
	at   *list.Element
}

func (t *turn[T]) join(r *ring[T], l *lane[T]) {
	if t.ring == nil {
		t.ring, t.at = r, r.list.PushBack(l)
	}
}

func (t *turn[T]) in() bool { return t.ring != nil }

func (t *turn[T]) leave() {
	if t.ring != nil {
		t.ring.list.Remove(t.at)
		t.ring, t.at = nil, nil
	}
}

// schedule is the lanes that wait for something to be due, the earliest first.
// Of those that are due already the one comes first that was asked for the
// longest ago: a lane whose oldest deliveries are the oldest of all must not
// come first for ever.
type schedule[T any] struct{ lanes []*lane[T] }

// first is the earliest lane; nil for none.
func (s *schedule[T]) first() *lane[T] {
	if len(s.lanes) == 0 {
		return nil
	}
	return s.lanes[0]
}

// place puts a lane where it belongs, or takes it out.
func (s *schedule[T]) place(l *lane[T], in bool) {
	switch {
	case in && l.place >= 0:
		heap.Fix(s, l.place)
	case in:
		heap.Push(s, l)
	case l.place >= 0:
		heap.Remove(s, l.place)
	}
}

// key is when a lane was due, or was asked for last.
func (l *lane[T]) key() time.Time {
	if l.asked.After(l.next) {
		return l.asked
	}
	return l.next
}

// Len implements heap.Interface.
func (s *schedule[T]) Len() int { return len(s.lanes) }

// Less implements heap.Interface.
func (s *schedule[T]) Less(i, j int) bool { return s.lanes[i].key().Before(s.lanes[j].key()) }

// Swap implements heap.Interface.
func (s *schedule[T]) Swap(i, j int) {
	s.lanes[i], s.lanes[j] = s.lanes[j], s.lanes[i]
	s.lanes[i].place, s.lanes[j].place = i, j
}

// Push implements heap.Interface.
func (s *schedule[T]) Push(x any) {
	l := x.(*lane[T])
	l.place = len(s.lanes)
	s.lanes = append(s.lanes, l)
}

// Pop implements heap.Interface.
func (s *schedule[T]) Pop() any {
	last := len(s.lanes) - 1
	l := s.lanes[last]
	s.lanes[last] = nil
	s.lanes = s.lanes[:last]
	l.place = -1
	return l
}
