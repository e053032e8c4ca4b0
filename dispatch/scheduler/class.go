package scheduler

import "math"

// class describes how the last attempt at an endpoint ended. The method pickLane usually tries the classes in the order
// of these constants.
type class int

const (
	quick   class = iota // acknowledged within quickLimit
	untried              // no attempt has ended
	slow                 // ended after quickLimit or by the timeout; also set by MarkSlow
	failing              // failed within quickLimit
	classes = iota
)

// group has the lanes of one class (a lane is the queue of one endpoint), and counts their items.
type group[T any] struct {
	ring     ring[T]            // lanes that have items and a free slot, in round-robin order
	due      timeHeap[*lane[T]] // lanes that need a claim, by time
	inFlight int
	// buffered counts the items in memory that are not in flight, and the room reserved for further items.
	buffered int
}

// budget returns how many more items of a class may be buffered. A class other than `quick` buffers at most one item
// for each free slot of its share. Further items could wait in memory until their leases expire, and releasing an item
// costs more than claiming it later.
func (q *Queue[T]) budget(c class) int {
	if c == quick {
		return math.MaxInt
	}
	g := &q.groups[c]
	return q.share(c) - g.inFlight - g.buffered
}

// share returns how many attempts of a class may be in flight. Slow lanes get half of all slots, and failing lanes an
// eighth. Slow, failing and untried lanes together get three quarters. So slow and failing lanes leave slots to untried
// lanes, and these three classes leave slots to quick lanes.
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

// startsOf returns the token bucket that limits the starts of attempts per second in class c, which is not `quick`.
func (q *Queue[T]) startsOf(c class) *tokenBucket {
	if c == failing {
		return &q.failingStarts
	}
	return &q.starts
}

// quickLimit is the duration from which an attempt counts as slow: half of `horizon`, for which a lane (one per
// endpoint) buffers deliveries in advance. A shorter attempt frees its slot too soon to delay other endpoints.
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

// setClass moves a lane into another class. The lane's attempts and items then count for the new class.
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
	q.unpark(l.host) // the lane l may have been waiting for a slot of the host, which another parked lane can use now
}
