package scheduler

import "time"

// room returns how many more items a lane should buffer.
func (q *Queue[T]) room(l *lane[T]) int { return q.window(l) - l.items.len() - l.inFlight - l.reserved }

// window returns how many items a lane should buffer.
func (q *Queue[T]) window(l *lane[T]) int { return windowOf(q.limits.Lane, l.took) }

// windowOf returns how many items the given slots can send within the horizon if each attempt lasts for `took`. The
// result is at most maxBuffered, but at least the number of slots.
func windowOf(slots int, took time.Duration) int {
	most := maxBuffered
	if took > 0 {
		most = min(most, int(int64(slots)*int64(horizon)/int64(took)))
	}
	return max(most, slots)
}

// needsClaim reports whether a lane should claim: it has nothing to send, or room for a quarter of its window. It does
// not claim each item separately, because a claim costs more than an attempt.
func (q *Queue[T]) needsClaim(l *lane[T]) bool {
	room := q.room(l)
	return room > 0 && (l.items.empty() && l.reserved == 0 || 4*room >= q.window(l))
}
