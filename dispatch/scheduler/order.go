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
	if f.head > maxBuffered { // bounds the memory of a queue that is never empty
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

// ringEntry is the position of a lane in a ring; the zero value is in no ring.
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

// dueHeap orders lanes by their due time or their last claim, the later of the two. By the
// due time alone, the lane with the oldest deliveries would always be first.
type dueHeap[T any] struct{ lanes []*lane[T] }

// first is the earliest lane; nil for none.
func (s *dueHeap[T]) first() *lane[T] {
	if len(s.lanes) == 0 {
		return nil
	}
	return s.lanes[0]
}

// update inserts, moves or removes a lane.
func (s *dueHeap[T]) update(l *lane[T], in bool) {
	switch {
	case in && l.index >= 0:
		heap.Fix(s, l.index)
	case in:
		heap.Push(s, l)
	case l.index >= 0:
		heap.Remove(s, l.index)
	}
}

// key is the time by which a dueHeap orders lanes.
func (l *lane[T]) key() time.Time {
	if l.claimedAt.After(l.next) {
		return l.claimedAt
	}
	return l.next
}

// Len implements heap.Interface.
func (s *dueHeap[T]) Len() int { return len(s.lanes) }

// Less implements heap.Interface.
func (s *dueHeap[T]) Less(i, j int) bool { return s.lanes[i].key().Before(s.lanes[j].key()) }

// Swap implements heap.Interface.
func (s *dueHeap[T]) Swap(i, j int) {
	s.lanes[i], s.lanes[j] = s.lanes[j], s.lanes[i]
	s.lanes[i].index, s.lanes[j].index = i, j
}

// Push implements heap.Interface.
func (s *dueHeap[T]) Push(x any) {
	l := x.(*lane[T])
	l.index = len(s.lanes)
	s.lanes = append(s.lanes, l)
}

// Pop implements heap.Interface.
func (s *dueHeap[T]) Pop() any {
	last := len(s.lanes) - 1
	l := s.lanes[last]
	s.lanes[last] = nil
	s.lanes = s.lanes[:last]
	l.index = -1
	return l
}
