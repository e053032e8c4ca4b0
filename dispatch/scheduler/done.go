package scheduler

import (
	"time"
)

// Result describes the end of an attempt at an endpoint.
type Result struct {
	At   time.Time
	Took time.Duration
	OK   bool // the endpoint acknowledged
	// TimedOut reports that the attempt reached its timeout.
	TimedOut bool
}

// Done records the end of an attempt.
func (q *Queue[T]) Done(id string, e Result) {
	l := q.lane(id)
	q.addInFlight(l, -1)
	l.took += (e.Took - l.took) / 4
	q.recordResult(l.host, e)
	q.setClass(l, classOf(e))
	q.enqueue(l)
	q.schedule(l)
	q.wake(l.host)
}

// Abandon frees the slot of an item that Next returned and that was not attempted.
func (q *Queue[T]) Abandon(id string) {
	l := q.lane(id)
	q.addInFlight(l, -1)
	q.enqueue(l)
	q.schedule(l)
	q.wake(l.host)
}

// MarkSlow puts an untried lane into the class slow. It is for a lane with a delivery that
// had a failed attempt before.
func (q *Queue[T]) MarkSlow(id string) {
	if l := q.lane(id); l.class == untried {
		q.setClass(l, slow)
		q.enqueue(l)
		q.schedule(l)
	}
}

// quickLimit is the duration from which on an attempt is slow: half the horizon (how far ahead
// lanes buffer). A shorter attempt does not occupy its slot long enough to delay other endpoints.
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
	q.unpark(l.host) // another parked lane may use the slot for which the lane l waited
}

// proofLasts is how long a host counts as proven after an acknowledgement. An unproven host gets
// fewer attempts, because most of its attempts would fail.
const proofLasts = 10 * time.Minute

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
