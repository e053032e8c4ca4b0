package scheduler

import (
	"math"
	"slices"
	"time"
)

// host has the counters and limits that are common to all lanes with the same host and port. A nil host has no limits;
// addBuffered and addInFlight then do nothing.
type host[T any] struct {
	name        string
	lanes       int
	inFlight    [classes]int
	buffered    int           // items that wait in memory, and reservations for items
	took        time.Duration // moving average of the duration of an attempt
	provenUntil time.Time
	tokens      tokenBucket      // limits attempts while the host is unproven
	parked      [classes]ring[T] // lanes that could send if the host had a slot and a token
	roomWaiters ring[T]          // lanes that could claim if the host had room for more items
	index       int              // index in tokenWaiters; -1 for none
	tokenAt     time.Time        // when to check the host for a token; set while index is not -1
}

func (h *host[T]) at() time.Time  { return h.tokenAt }
func (h *host[T]) position() *int { return &h.index }

// pruneHosts removes hosts that have a full token bucket and no lanes. A host with a partly empty bucket stays.
// Otherwise a client could refill the bucket by deleting its webhook and creating it again.
func (q *Queue[T]) pruneHosts() {
	for name, h := range q.hosts {
		h.tokens.allows(q.clock)
		if h.lanes == 0 && h.index < 0 && h.tokens.tokens >= h.tokens.burst {
			delete(q.hosts, name)
		}
	}
}

// assignHost assigns a lane to the current host of its endpoint, because a client can change the URL. A lane with
// attempts in flight keeps its host until they end. So each attempt is counted at one host only.
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

// hostBudget returns how many more items of a host may be in memory. A host may have as many items as its slots can
// send within the time `horizon`. An unproven host may have no more items than tokens.
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

// proven reports whether a host is exempt from the limit for unproven hosts. A host is exempt for proofLasts after it
// has acknowledged an attempt. If no limit is configured, every host is exempt.
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

// tokenRecheck is the minimum delay before the queue checks a host for a token again. It is shorter than the 2 s within
// which a due attempt must start.
const tokenRecheck = time.Second

// hasSlot reports whether another attempt of a class may be in flight at a host.
func (q *Queue[T]) hasSlot(h *host[T], c class) bool {
	if h == nil || q.limits.Host == 0 {
		return true
	}
	troubled := h.inFlight[slow] + h.inFlight[failing]
	behind := [...]int{quick: h.totalInFlight(), untried: troubled + h.inFlight[untried], slow: troubled, failing: troubled}
	return h.totalInFlight() < q.limits.Host && behind[c] < q.slots(c)
}

// slots returns the limit of a class for the attempts in flight at a host. Attempts of slow and failing lanes count
// towards the limits of all classes. Attempts of untried lanes count towards the limits of untried and quick, and those
// of quick lanes only towards the limit of quick. So slow and failing lanes leave slots to other lanes.
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

// hasToken reports whether the limit for unproven hosts allows another attempt at a host.
func (q *Queue[T]) hasToken(h *host[T]) bool {
	return h == nil || q.proven(h) || h.tokens.allows(q.clock)
}

// awaitToken schedules a check of an unproven host when its next token is due, but at least tokenRecheck from now. The
// delay applies even if the host has tokens now, because the buffered items may use all of them.
func (q *Queue[T]) awaitToken(h *host[T]) {
	h.tokenAt = q.clock.Add(tokenRecheck)
	if at := h.tokens.next(q.clock); at.After(h.tokenAt) {
		h.tokenAt = at
	}
	q.tokenWaiters.update(h, true)
}

func (h *host[T]) addInFlight(c class, n int) {
	if h != nil {
		h.inFlight[c] += n
	}
}

// wake lets lanes that wait for a host send and claim again, as far as the host has slots, tokens and room for items.
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

// unpark moves, for each class with a free slot at the host, one waiting lane to the ring of the class.
func (q *Queue[T]) unpark(h *host[T]) {
	if h == nil || !q.hasToken(h) {
		return // awaitToken has scheduled a check for the next token
	}
	for c := range class(classes) {
		if h.parked[c].list.Len() > 0 && q.hasSlot(h, c) {
			l := h.parked[c].pop()
			l.sendEntry.join(&q.groups[c].ring, l)
		}
	}
}

func (h *host[T]) hasParked() bool {
	return slices.ContainsFunc(h.parked[:], func(r ring[T]) bool { return r.list.Len() > 0 })
}
