package scheduler

import "time"

// room returns how many more items a lane should have in memory.
func (q *Queue[T]) room(l *lane[T]) int { return q.window(l) - l.items.len() - l.inFlight - l.reserved }

// window returns how many items a lane should have in memory, including those in flight.
func (q *Queue[T]) window(l *lane[T]) int { return windowOf(q.limits.Lane, l.took) }

// windowOf returns how many items `slots` concurrent attempts can send within the time `horizon`, if each attempt takes
// `took`. If took is 0, it returns maxBuffered. The result is at most maxBuffered, but always at least `slots`.
func windowOf(slots int, took time.Duration) int {
	most := maxBuffered
	if took > 0 {
		most = min(most, int(int64(slots)*int64(horizon)/int64(took)))
	}
	return max(most, slots)
}

// needsClaim reports whether a lane should claim items: it has none to send or reserved, or has room for a quarter of
// its window. Claiming each item separately would cost more than the attempts.
func (q *Queue[T]) needsClaim(l *lane[T]) bool {
	room := q.room(l)
	return room > 0 && (l.items.empty() && l.reserved == 0 || 4*room >= q.window(l))
}
