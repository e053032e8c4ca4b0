package scheduler

import (
	"slices"
	"time"
)

// Next returns the lane and the value of an item whose attempt starts now. ok is false if no
// item may start. After the attempt, the caller calls Done or Abandon for the lane.
func (q *Queue[T]) Next(now time.Time) (id string, value T, ok bool) {
	q.refill(now)
	for q.inFlight < q.limits.All {
		l := q.pickLane(now)
		if l == nil {
			break
		}
		it := l.items.pop()
		q.addBuffered(l, -1)
		if it.until.Sub(now) < q.limits.Timeout+q.limits.Margin {
			q.expired = append(q.expired, it.value)
		} else {
			q.addInFlight(l, 1)
			q.spend(l)
			id, value, ok = l.id, it.value, true
		}
		q.enqueue(l)
		q.schedule(l)
		q.wake(l.host) // other lanes of the host may use its remaining slots
		if ok {
			return id, value, true
		}
	}
	return "", value, false
}

// NextStart returns the earliest time at which a rate limit may allow another attempt. It returns
// zero if all slots are in use or no item waits for a rate limit.
func (q *Queue[T]) NextStart(now time.Time) (at time.Time) {
	if q.inFlight >= q.limits.All {
		return time.Time{}
	}
	for _, c := range [...]class{untried, slow, failing} {
		if p := q.startsOf(c); q.hasClassSlot(c) && q.groups[c].ring.list.Len() > 0 && !p.allows(now) {
			at = earlier(at, p.next(now))
		}
	}
	return q.orNextToken(at)
}

// reverseEvery is the interval, in calls of pickLane, of calls that try the classes in reverse
// order. Without such calls, busy quick lanes could starve all other lanes.
const reverseEvery = 8

// pickLane removes and returns the next lane (queue of an endpoint) that may send; nil if no lane
// may send. It tries the classes in order, but each reverseEvery-th call tries them in reverse.
func (q *Queue[T]) pickLane(now time.Time) *lane[T] {
	q.picks++
	for i := range class(classes) {
		c := i
		if q.picks%reverseEvery == 0 {
			c = classes - 1 - i
		}
		if !q.hasClassSlot(c) || c != quick && !q.startsOf(c).allows(now) {
			continue
		}
		for l := q.groups[c].ring.pop(); l != nil; l = q.groups[c].ring.pop() {
			if q.admits(l) {
				return l
			}
		}
	}
	return nil
}

// hasClassSlot reports whether another attempt of a class may start.
func (q *Queue[T]) hasClassSlot(c class) bool {
	others := q.groups[slow].inFlight + q.groups[failing].inFlight + q.groups[untried].inFlight
	if (c == slow || c == failing) && others >= max(1, q.limits.All-q.limits.All/4) {
		return false
	}
	return q.groups[c].inFlight < q.share(c)
}

// startsOf returns the rate limit of a class that is not quick.
func (q *Queue[T]) startsOf(c class) *tokenBucket {
	if c == failing {
		return &q.failingStarts
	}
	return &q.starts
}

// spend spends the tokens that the start of an attempt of a lane costs.
func (q *Queue[T]) spend(l *lane[T]) {
	if l.class != quick {
		q.startsOf(l.class).spend()
	}
	if l.host != nil && !q.proven(l.host) {
		l.host.tokens.spend()
	}
}

func (q *Queue[T]) addInFlight(l *lane[T], n int) {
	l.inFlight += n
	q.inFlight += n
	q.groups[l.class].inFlight += n
	l.host.addInFlight(l.class, n)
}

// tokenRecheck is the least delay before a host is checked again for a token. It is below
// the 2 s within which a due attempt must start.
const tokenRecheck = time.Second

// refill sets the clock, and wakes the hosts that are due for a check of their tokens.
func (q *Queue[T]) refill(now time.Time) {
	q.clock = now
	for h := q.tokenWaiters.first(); h != nil && !h.tokenAt.After(now); h = q.tokenWaiters.first() {
		q.tokenWaiters.update(h, false)
		q.wake(h)
	}
}

// admits reports whether a lane that pickLane took from its ring may send. Otherwise admits parks
// the lane until its host allows another attempt. A lane with a new host and attempts in flight is
// not parked, because Done and Abandon enqueue it again.
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

// hasSlot reports whether another attempt of a class may be in flight at a host.
func (q *Queue[T]) hasSlot(h *host[T], c class) bool {
	if h == nil || q.limits.Host == 0 {
		return true
	}
	troubled := h.inFlight[slow] + h.inFlight[failing]
	behind := [...]int{quick: h.totalInFlight(), untried: troubled + h.inFlight[untried], slow: troubled, failing: troubled}
	return h.totalInFlight() < q.limits.Host && behind[c] < q.slots(c)
}

// slots returns a limit of the attempts in flight at a host. The limit for slow and failing counts
// the attempts of these two classes. The limit for untried also counts untried attempts, and the
// limit for quick counts all. So slow and failing lanes leave slots to other lanes.
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

// awaitToken schedules a wake of an unproven host at its next token, but tokenRecheck from now at
// the earliest. A host with tokens waits too, because its items in memory may need all of them.
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

// unpark enqueues one parked lane of each class for which the host has a slot and a token.
func (q *Queue[T]) unpark(h *host[T]) {
	if h == nil || !q.hasToken(h) {
		return // without a token, awaitToken has scheduled a wake
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
