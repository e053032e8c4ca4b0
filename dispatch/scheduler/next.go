package scheduler

import "time"

// Next returns an item whose attempt must start now, and the id of its lane; `ok` is false if there is none. After the
// attempt, the caller calls Done or Abandon for the lane. Expired returns the items whose leases end too soon.
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
			q.spendTokens(l)
			id, value, ok = l.id, it.value, true
		}
		q.reschedule(l)
		if ok {
			return id, value, true
		}
	}
	return "", value, false
}

// NextStart returns the earliest time at which a rate limit may allow another attempt. It returns zero if all slots are
// in use or no item waits for a rate limit.
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

// reverseEvery is the number of calls of pickLane of which one tries the classes in reverse order. Without that call,
// busy quick lanes could starve all other lanes.
const reverseEvery = 8

// pickLane finds the next lane that may send, and removes it from its ring. It returns nil if no lane may send. It
// tries the classes in order, or in reverse order if reverseEvery divides the number of the call.
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

// spendTokens takes the tokens for the start of an attempt from the rate limits that apply to the lane.
func (q *Queue[T]) spendTokens(l *lane[T]) {
	if l.class != quick {
		q.startsOf(l.class).spend()
	}
	if l.host != nil && !q.proven(l.host) {
		l.host.tokens.spend()
	}
}

// refill sets the clock, and wakes the hosts whose check for a token is due.
func (q *Queue[T]) refill(now time.Time) {
	q.clock = now
	for h := q.tokenWaiters.first(); h != nil && !h.tokenAt.After(now); h = q.tokenWaiters.first() {
		q.tokenWaiters.update(h, false)
		q.wake(h)
	}
}

// admits reports whether a lane may start an attempt now. pickLane has already taken the lane from its ring. If the
// lane's host has no free slot or token, admits parks the lane at the host. If the endpoint has moved to another host,
// the lane first waits until its attempts in flight have ended. admits does not park this lane, because Done and
// Abandon put it back into the ring.
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
