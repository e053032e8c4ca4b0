package scheduler

import (
	"math"
	"time"
)

// class describes how the last attempt at an endpoint ended. Attempts start in the order of the
// classes.
type class int

const (
	quick   class = iota // acknowledged within quickLimit
	untried              // no attempt has ended
	slow                 // ended after quickLimit, or timed out
	failing              // failed within quickLimit
	classes = iota
)

// quickLimit is half the horizon (how far ahead lanes buffer). An attempt that ends earlier does
// not occupy its slot long enough to delay other endpoints.
const quickLimit = horizon / 2

func classOf(e Result) class {
	switch {
	case e.TimedOut || e.Took >= quickLimit:
		return slow
	case !e.OK:
		return failing
	}
	return quick
}

// group has the lanes (queues of endpoints) of one class and the counts of their items.
type group[T any] struct {
	ring     ring[T]            // lanes that could send, in round-robin order
	due      timeHeap[*lane[T]] // lanes for which the store has deliveries
	inFlight int
	// buffered counts items in memory or reserved, and not in flight.
	buffered int
}

// reverseEvery is the number of calls of pickLane of which one tries the classes in reverse order.
// Otherwise busy quick lanes could starve all others.
const reverseEvery = 8

// share returns how many attempts of a class may be in flight. Slow lanes get half of all slots,
// and failing lanes an eighth. Slow, failing and untried lanes together get three quarters. So some
// slots remain for untried lanes, and some for quick ones.
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

// spend takes the tokens of an attempt that starts.
func (q *Queue[T]) spend(l *lane[T]) {
	if l.class != quick {
		q.startsOf(l.class).spend()
	}
	if l.host != nil && !q.proven(l.host) {
		l.host.tokens.spend()
	}
}

// budget returns how many more items of a class may be buffered. A class other than quick buffers
// at most one item per slot. Further items would wait until their lease expires, and releasing them
// costs more than claiming them later.
func (q *Queue[T]) budget(c class) int {
	if c == quick {
		return math.MaxInt
	}
	g := &q.groups[c]
	return q.share(c) - g.inFlight - g.buffered
}

// addReserved adds n to the reserved items of a lane.
func (q *Queue[T]) addReserved(l *lane[T], n int) {
	l.reserved += n
	q.groups[l.class].buffered += n
	l.host.addBuffered(n)
}

// addBuffered counts n more items of a lane in memory.
func (q *Queue[T]) addBuffered(l *lane[T], n int) {
	q.buffered += n
	q.groups[l.class].buffered += n
	l.host.addBuffered(n)
}

// addInFlight adds n to the attempts of a lane in flight.
func (q *Queue[T]) addInFlight(l *lane[T], n int) {
	l.inFlight += n
	q.inFlight += n
	q.groups[l.class].inFlight += n
	l.host.addInFlight(l.class, n)
}

// setClass moves a lane with its counts into another class.
func (q *Queue[T]) setClass(l *lane[T], to class) {
	if l.class == to {
		return
	}
	held := l.items.len() + l.reserved
	from := &q.groups[l.class]
	from.inFlight -= l.inFlight
	from.buffered -= held
	from.due.update(l, false)
	l.sendEntry.leave()
	l.host.addInFlight(l.class, -l.inFlight)
	l.host.addInFlight(to, l.inFlight)
	l.class = to
	q.groups[to].inFlight += l.inFlight
	q.groups[to].buffered += held
	q.unpark(l.host) // another lane may use the slot for which this one waited
}

// enqueue puts a lane into the ring of its class if the lane has items and a free slot.
func (q *Queue[T]) enqueue(l *lane[T]) {
	if !l.items.empty() && l.inFlight < q.limits.Lane {
		l.sendEntry.join(&q.groups[l.class].ring, l)
	}
}

// pickLane removes and returns the next lane (queue of an endpoint) that may send; nil if there is
// none. It tries the classes in order, but in one of reverseEvery calls in reverse order.
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
