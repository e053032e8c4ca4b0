package scheduler

import "time"

// lane is the queue of one endpoint.
type lane[T any] struct {
	id       string
	class    class
	items    fifo[item[T]]
	inFlight int
	took     time.Duration // moving average of the duration of an attempt
	host     *host[T]      // nil for none
	// reserved is the room in the lane that is reserved for items which the caller is storing or claiming.
	reserved  int
	next      time.Time    // when the next item in the store is due; zero if none is known
	claimedAt time.Time    // time of the last claim
	index     int          // index in the due heap of its class; -1 for none
	sendEntry ringEntry[T] // position in the ring (round-robin list) of its class, or among the parked lanes of its host
	roomEntry ringEntry[T] // position among the lanes that wait for room at their host
}

// at returns the time that orders a lane in the due heap: the later of its due time and its last claim. If only the due
// time counted, the lane with the oldest deliveries would always be first.
func (l *lane[T]) at() time.Time {
	if l.claimedAt.After(l.next) {
		return l.claimedAt
	}
	return l.next
}

func (l *lane[T]) position() *int { return &l.index }

// lane returns the lane of an endpoint, and creates it if it does not exist.
func (q *Queue[T]) lane(id string) *lane[T] {
	l := q.lanes[id]
	if l == nil {
		l = &lane[T]{id: id, class: untried, took: q.limits.Timeout, index: -1}
		q.lanes[id] = l
	}
	q.assignHost(l)
	return l
}

// schedule updates a lane in the due heap, which has the lanes that need a claim. A lane is not in the heap if it needs
// no claim, has no due time, or waits for room at its host.
func (q *Queue[T]) schedule(l *lane[T]) {
	q.groups[l.class].due.update(l, !l.next.IsZero() && q.needsClaim(l) && !l.roomEntry.in())
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

// reschedule updates a lane after an attempt has started or ended. It puts the lane into the ring and the heap if the
// lane can send or claim. It wakes the host, because other lanes of the host may use the remaining slots.
func (q *Queue[T]) reschedule(l *lane[T]) {
	q.enqueue(l)
	q.schedule(l)
	q.wake(l.host)
}

func (q *Queue[T]) addInFlight(l *lane[T], n int) {
	l.inFlight += n
	q.inFlight += n
	q.groups[l.class].inFlight += n
	l.host.addInFlight(l.class, n)
}
