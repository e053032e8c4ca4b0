package scheduler

import (
	"math"
	"time"
)

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

// Add appends items to their lane, after a reservation or a claim. Their lease ends at until.
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

func (q *Queue[T]) lane(id string) *lane[T] {
	l := q.lanes[id]
	if l == nil {
		l = &lane[T]{id: id, class: untried, took: q.limits.Timeout, index: -1}
		q.lanes[id] = l
	}
	q.assignHost(l)
	return l
}

// room returns how many more items a lane should buffer.
func (q *Queue[T]) room(l *lane[T]) int { return q.window(l) - l.items.len() - l.inFlight - l.reserved }

// window returns how many items a lane should buffer.
func (q *Queue[T]) window(l *lane[T]) int { return windowOf(q.limits.Lane, l.took) }

// windowOf returns how many items some slots can send within the horizon if each attempt lasts for
// the duration took. The result is at most maxBuffered, but at least the number of slots.
func windowOf(slots int, took time.Duration) int {
	most := maxBuffered
	if took > 0 {
		most = min(most, int(int64(slots)*int64(horizon)/int64(took)))
	}
	return max(most, slots)
}

// needsClaim reports whether a lane should claim: it has nothing to send, or room for a
// quarter of its window. A claim of one item would cost more than the attempt of the item.
func (q *Queue[T]) needsClaim(l *lane[T]) bool {
	room := q.room(l)
	return room > 0 && (l.items.empty() && l.reserved == 0 || 4*room >= q.window(l))
}

// schedule updates a lane in the due heap, which has the lanes to claim for. A lane is not in the
// heap if it needs no claim, has no due time, or waits for room at its host.
func (q *Queue[T]) schedule(l *lane[T]) {
	q.groups[l.class].due.update(l, !l.next.IsZero() && q.needsClaim(l) && !l.roomEntry.in())
}

// budget returns how many more items of a class may be buffered. A class other than quick buffers
// at most one item per free slot of its share. Further items could wait until their leases expire,
// and a release costs more than a later claim.
func (q *Queue[T]) budget(c class) int {
	if c == quick {
		return math.MaxInt
	}
	g := &q.groups[c]
	return q.share(c) - g.inFlight - g.buffered
}

// share returns how many attempts of a class may be in flight. Slow lanes get half of all slots,
// and failing lanes an eighth. Slow, failing and untried lanes together get three quarters. So slow
// and failing lanes leave slots to untried lanes, and all three leave slots to quick lanes.
func (q *Queue[T]) share(c class) int {
	switch c {
	case slow:
		return max(1, q.limits.All/2)
	case failing:
		return max(1, q.limits.All/8)
	case untried:
		return max(1, q.limits.All-q.limits.All/4-q.groups[slow].inFlight-q.groups[failing].inFlight)
	}
	return q.limits.All
}

func (q *Queue[T]) addReserved(l *lane[T], n int) {
	l.reserved += n
	q.groups[l.class].buffered += n
	l.host.addBuffered(n)
}

func (q *Queue[T]) addBuffered(l *lane[T], n int) {
	q.buffered += n
	q.groups[l.class].buffered += n
	l.host.addBuffered(n)
}

// enqueue puts a lane into the ring of its class if the lane has items and a free slot.
func (q *Queue[T]) enqueue(l *lane[T]) {
	if !l.items.empty() && l.inFlight < q.limits.Lane {
		l.sendEntry.join(&q.groups[l.class].ring, l)
	}
}

// assignHost assigns a lane (queue of an endpoint) to the current host of the endpoint, because a
// client can change the URL. A lane with attempts in flight keeps its host until they end, so that
// the host's counts stay right.
func (q *Queue[T]) assignHost(l *lane[T]) {
	name := q.hostName(l)
	if l.inFlight > 0 || l.host == nil && name == "" || l.host != nil && l.host.name == name {
		return
	}
	parked, waited := l.sendEntry.in(), l.roomEntry.in()
	l.sendEntry.leave()
	l.roomEntry.leave()
	q.leaveHost(l)
	if name != "" {
		h := q.hosts[name]
		if h == nil {
			n := float64(q.limits.Unproven)
			h = &host[T]{name: name, took: q.limits.Timeout, index: -1, tokens: tokenBucket{rate: n / 60, burst: n}}
			q.hosts[name] = h
		}
		h.lanes++
		h.buffered += l.items.len() + l.reserved
		l.host = h
	}
	if parked {
		q.enqueue(l)
	}
	if waited {
		q.schedule(l)
	}
}

func (q *Queue[T]) hostName(l *lane[T]) string {
	if q.limits.HostOf == nil {
		return ""
	}
	return q.limits.HostOf(l.id)
}

func (q *Queue[T]) leaveHost(l *lane[T]) {
	if h := l.host; h != nil {
		h.lanes--
		h.buffered -= l.items.len() + l.reserved
		l.host = nil
		q.wake(h)
	}
}

// hostBudget returns how many more items of a host should be in memory. A host has at most as many
// items as its slots can send within the horizon. An unproven host has at most one item per token.
func (q *Queue[T]) hostBudget(h *host[T]) int {
	if h == nil {
		return math.MaxInt
	}
	budget := math.MaxInt
	if q.limits.Host > 0 {
		budget = windowOf(q.limits.Host, h.took) - h.totalInFlight() - h.buffered
	}
	if !q.proven(h) {
		h.tokens.allows(q.clock)
		budget = min(budget, int(h.tokens.tokens)-h.buffered)
	}
	return budget
}

// proven reports whether the limit for unproven hosts does not apply to a host. It does not apply
// if the host has acknowledged an attempt in the last proofLasts, or if no such limit is set.
func (q *Queue[T]) proven(h *host[T]) bool {
	return q.limits.Unproven == 0 || q.clock.Before(h.provenUntil)
}

func (h *host[T]) addBuffered(n int) {
	if h != nil {
		h.buffered += n
	}
}

func (h *host[T]) totalInFlight() (n int) {
	for _, of := range h.inFlight {
		n += of
	}
	return n
}
