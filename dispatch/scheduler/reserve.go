package scheduler

import "time"

// Reserve reserves room in memory for at most n items that the caller is about to store. It returns the number of
// reservations. The caller ends each reservation with Add or Unreserve. If the store has due items of the lane, Reserve
// returns 0, because these older items come first.
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

// Unreserve ends n reservations of the lane `id`, for which the caller will add no items.
func (q *Queue[T]) Unreserve(id string, n int) {
	l := q.lane(id)
	q.addReserved(l, -n)
	q.schedule(l)
	q.wake(l.host)
}
