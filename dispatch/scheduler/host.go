package scheduler

import (
	"math"
	"slices"
	"time"
)

// proofLasts is how long a host is proven after an acknowledgement. A host that is down for longer
// gets fewer attempts, because most of them would fail anyway.
const proofLasts = 10 * time.Minute

// tokenRecheck is the least delay before awaitToken checks a host again. It is below the
// 2 s within which a due attempt must start.
const tokenRecheck = time.Second

// host has the limits that all lanes (queues of endpoints) with one host and port share.
// addBuffered and addInFlight do nothing on nil.
type host[T any] struct {
	name        string
	lanes       int
	inFlight    [classes]int
	buffered    int           // items in memory or reserved, and not in flight
	took        time.Duration // moving average of the duration of an attempt
	provenUntil time.Time
	tokens      tokenBucket      // limits attempts while the host is not proven
	parked      [classes]ring[T] // lanes that could send if the host had a slot
	roomWaiters ring[T]          // lanes that could claim if the host had room
	index       int              // index in tokenWaiters; -1 for none
	tokenAt     time.Time        // when the host will have a token
}

func (h *host[T]) at() time.Time  { return h.tokenAt }
func (h *host[T]) position() *int { return &h.index }

func (h *host[T]) addBuffered(n int) {
	if h != nil {
		h.buffered += n
	}
}

func (h *host[T]) addInFlight(c class, n int) {
	if h != nil {
		h.inFlight[c] += n
	}
}

func (h *host[T]) totalInFlight() (n int) {
	for _, of := range h.inFlight {
		n += of
	}
	return n
}

// assignHost assigns a lane (queue of an endpoint) to the current host of the endpoint, whose URL
// may change. A lane with attempts in flight keeps its host until they end, so that counts stay
// right.
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

// pruneHosts removes hosts without lanes, once their token bucket is full. If it removed
// them earlier, a client could refill the bucket by recreating its webhook.
func (q *Queue[T]) pruneHosts() {
	for name, h := range q.hosts {
		h.tokens.allows(q.clock)
		if h.lanes == 0 && h.index < 0 && h.tokens.tokens >= h.tokens.burst {
			delete(q.hosts, name)
		}
	}
}

// slots returns how many attempts of a class, and of the classes after it, may be in flight at a
// host. So lanes that time out leave slots to other lanes. A single lane can always use all its
// slots.
func (q *Queue[T]) slots(c class) int {
	switch most := q.limits.Host; c {
	case slow, failing:
		return min(most, max(q.limits.Lane, most/2))
	case untried:
		return min(most, max(q.limits.Lane, most-most/4))
	default:
		return most
	}
}

// hasSlot reports whether another attempt of a class may be in flight at a host.
func (q *Queue[T]) hasSlot(h *host[T], c class) bool {
	if h == nil || q.limits.Host == 0 {
		return true
	}
	troubled := h.inFlight[slow] + h.inFlight[failing]
	behind := [...]int{quick: h.totalInFlight(), untried: troubled + h.inFlight[untried], slow: troubled, failing: troubled}
	return h.totalInFlight() < q.limits.Host && behind[c] < q.slots(c)
}

// proven reports whether a host has acknowledged recently, or no proof is required.
func (q *Queue[T]) proven(h *host[T]) bool {
	return q.limits.Unproven == 0 || q.clock.Before(h.provenUntil)
}

// hasToken reports whether the limit Unproven allows another attempt at a host.
func (q *Queue[T]) hasToken(h *host[T]) bool {
	return h == nil || q.proven(h) || h.tokens.allows(q.clock)
}

// admits reports whether a lane that pickLane took from its ring may send. Otherwise the lane is
// parked: it waits at its host until the host allows another attempt. A lane whose host has changed
// is not parked; it is enqueued again when its attempts in flight end.
func (q *Queue[T]) admits(l *lane[T]) bool {
	if name := q.hostName(l); l.inFlight > 0 && name != "" && (l.host == nil || l.host.name != name) {
		return false
	}
	q.assignHost(l)
	switch {
	case !q.hasSlot(l.host, l.class):
	case !q.hasToken(l.host):
		q.awaitToken(l.host)
	default:
		return true
	}
	l.sendEntry.join(&l.host.parked[l.class], l)
	return false
}

// unpark enqueues one parked lane of each class for which the host has a slot.
func (q *Queue[T]) unpark(h *host[T]) {
	if h == nil || !q.hasToken(h) {
		return // awaitToken has scheduled a wake
	}
	for c := range class(classes) {
		if h.parked[c].list.Len() > 0 && q.hasSlot(h, c) {
			l := h.parked[c].pop()
			l.sendEntry.join(&q.groups[c].ring, l)
		}
	}
}

// wake lets waiting lanes (queues of endpoints) of a host send and claim.
func (q *Queue[T]) wake(h *host[T]) {
	if h == nil {
		return
	}
	q.unpark(h)
	for range min(q.hostBudget(h), h.roomWaiters.list.Len()) {
		l := h.roomWaiters.front()
		l.roomEntry.leave()
		q.schedule(l)
	}
	if !q.proven(h) && h.index < 0 && (h.roomWaiters.list.Len() > 0 || h.hasParked()) {
		q.awaitToken(h)
	}
}

// hasParked reports whether lanes of a host are parked.
func (h *host[T]) hasParked() bool {
	return slices.ContainsFunc(h.parked[:], func(r ring[T]) bool { return r.list.Len() > 0 })
}

// hostBudget returns how many more items of a host should be in memory. All of them together are
// what its slots can send within the horizon. An unproven host has at most one item per token.
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

// awaitRoom removes a lane from the due heap until its host has room for items of the lane.
func (q *Queue[T]) awaitRoom(l *lane[T]) {
	q.groups[l.class].due.update(l, false)
	l.roomEntry.join(&l.host.roomWaiters, l)
	if !q.proven(l.host) {
		q.awaitToken(l.host)
	}
}

// recordResult updates the host with the result of an attempt.
func (q *Queue[T]) recordResult(h *host[T], e Result) {
	if h == nil {
		return
	}
	h.took += (e.Took - h.took) / 4
	if e.OK {
		h.provenUntil = e.At.Add(proofLasts)
	}
}

// awaitToken schedules a wake of an unproven host for its next token, but not before tokenRecheck.
// Even if the host has tokens, all of them may be reserved for items in memory.
func (q *Queue[T]) awaitToken(h *host[T]) {
	h.tokenAt = q.clock.Add(tokenRecheck)
	if at := h.tokens.next(q.clock); at.After(h.tokenAt) {
		h.tokenAt = at
	}
	q.tokenWaiters.update(h, true)
}

// refill wakes the hosts that have a token again.
func (q *Queue[T]) refill(now time.Time) {
	q.clock = now
	for h := q.tokenWaiters.first(); h != nil && !h.tokenAt.After(now); h = q.tokenWaiters.first() {
		q.tokenWaiters.update(h, false)
		q.wake(h)
	}
}

// orNextToken returns at, or the time of the next token of an unproven host if that is
// earlier.
func (q *Queue[T]) orNextToken(at time.Time) time.Time {
	if h := q.tokenWaiters.first(); h != nil {
		return earlier(at, h.tokenAt)
	}
	return at
}

// earlier returns the earlier of two times; zero means none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
