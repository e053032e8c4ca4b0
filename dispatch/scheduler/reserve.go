package scheduler

import "time"

// Reserve reserves room in memory for at most n items that the caller is about to store. It returns
// the number of reservations. The caller ends each reservation with Add or Unreserve. Reserve
// returns 0 while the store has due items of the lane, because these items are older.
func (q *Queue[T]) Reserve(id string, n int, now time.Time) int {
	q.clock = now
	l := q.lane(id)
	if !l.next.IsZero() && !l.next.After(now) {
		return 0
	}
	n = max(0, min(n, q.room(l), q.budget(l.class), q.hostBudget(l.host)))
	q.addReserved(l, n)
	q.schedule(l)
	return n
}

// Unreserve releases reservations made by Reserve.
func (q *Queue[T]) Unreserve(id string, n int) {
	l := q.lane(id)
	q.addReserved(l, -n)
	q.schedule(l)
	q.wake(l.host)
}

// Add appends items to their lane, after a reservation or a claim. `until` is the end of their lease.
func (q *Queue[T]) Add(id string, items []T, until time.Time) {
	l := q.lane(id)
	q.addReserved(l, -len(items))
	for _, value := range items {
		l.items.push(item[T]{value, until})
	}
	q.addBuffered(l, len(items))
	q.enqueue(l)
	q.schedule(l)
}

// Due records that the store has an item of the lane that is due at a time.
func (q *Queue[T]) Due(id string, at time.Time) {
	l := q.lane(id)
	if l.next.IsZero() || at.Before(l.next) {
		l.next = at
		q.schedule(l)
	}
}
