package scheduler

import "time"

// Result describes the end of an attempt at an endpoint.
type Result struct {
	At   time.Time
	Took time.Duration
	OK   bool // the endpoint acknowledged the delivery
	// TimedOut means that the attempt reached its timeout.
	TimedOut bool
}

// Done records the end of an attempt at the endpoint of the lane `id`, and frees its slot.
func (q *Queue[T]) Done(id string, e Result) {
	l := q.lane(id)
	q.addInFlight(l, -1)
	l.took += (e.Took - l.took) / 4
	q.recordResult(l.host, e)
	q.setClass(l, classOf(e))
	q.reschedule(l)
}

// Abandon frees the slot of an item that Next has returned, if the caller has not attempted the item.
func (q *Queue[T]) Abandon(id string) {
	l := q.lane(id)
	q.addInFlight(l, -1)
	q.reschedule(l)
}

// MarkSlow moves an untried lane into the class slow. The caller uses it if an attempt of a claimed delivery has failed
// before, because the endpoint is then likely to fail again.
func (q *Queue[T]) MarkSlow(id string) {
	if l := q.lane(id); l.class == untried {
		q.setClass(l, slow)
		q.enqueue(l)
		q.schedule(l)
	}
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
