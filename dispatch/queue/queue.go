// Package queue decides what is sent next: every endpoint has a lane of its own,
// with its own number of attempts under way, so that none waits for another.
//
// A lane holds in memory only what it can send soon; the rest stays in the store
// until it is asked for. How much that is, and how many attempts are under way at
// once, follows from how the endpoint answers: a lane begins with two at once,
// gains one with every answer in time up to its limit, and loses half with every
// attempt that runs into its time-out. So a thousand dead endpoints hold a
// thousand connections and not eight thousand.
//
// All lanes together have a limit too. A quarter of it is kept for lanes whose
// last attempt was answered: however many endpoints hang, one that works finds
// room.
package queue

import (
	"time"
)

// Limits bound what is under way.
type Limits struct {
	// Lane is how many attempts may be under way at one endpoint, All at all of
	// them.
	Lane, All int
	// Timeout is the longest that an attempt can take. Nothing is begun with less
	// than that, and Margin, left of its lease.
	Timeout, Margin time.Duration
}

// Policy of the lanes.
const (
	firstWidth = 2
	// horizon is how far ahead a lane holds what it can send: longer than a claim
	// takes, shorter than what a lease leaves beside an attempt.
	horizon = 2 * time.Second
	// mostHeld bounds a lane in memory: at 5,000/s a claim comes five times a
	// second.
	mostHeld = 1024
	// reserved is the part of Limits.All, as 1/reserved, that only lanes whose
	// last attempt was answered may use.
	reserved = 4
	// mostLanes and mostRows bound one claim, so that its transaction is short, and
	// mostOfLane leaves room in it for others.
	mostLanes  = 64
	mostRows   = 512
	mostOfLane = 256
)

// Queue holds items of type T in lanes. It belongs to one goroutine at a time.
type Queue[T any] struct {
	limits Limits
	lanes  map[string]*lane[T]
	// answering and others are the lanes that could send now, in turn.
	answering, others ring[T]
	due               schedule[T]
	flying, waiting   int // under way; in memory and not under way
	unproven          int // of flying: by lanes in others
	expired           []T
}

// item is one T with the end of its lease.
type item[T any] struct {
	value T
	until time.Time
}

// lane is one endpoint.
type lane[T any] struct {
	id     string
	items  fifo[item[T]]
	flying int
	width  int // how many may be under way now
	// answers says that the last attempt was answered in time.
	answers bool
	took    time.Duration // a running mean of what an attempt takes
	// coming is how many were reserved, or asked of the store, and are not here.
	coming int
	next   time.Time // when the store has something due; zero for nothing known
	place  int       // in the schedule; -1 for none
	ready  bool      // in a ring
}

// New returns an empty queue.
func New[T any](l Limits) *Queue[T] {
	return &Queue[T]{limits: l, lanes: map[string]*lane[T]{}}
}

func (q *Queue[T]) lane(id string) *lane[T] {
	l := q.lanes[id]
	if l == nil {
		l = &lane[T]{id: id, width: min(firstWidth, q.limits.Lane), took: q.limits.Timeout, place: -1}
		q.lanes[id] = l
	}
	return l
}

// Reserve asks for room for n items that are about to be stored, and says for how
// many there is. They are then added with Add, or given up with Unreserve. There
// is none behind items that are due in the store already: those are older.
func (q *Queue[T]) Reserve(id string, n int, now time.Time) int {
	l := q.lane(id)
	if !l.next.IsZero() && !l.next.After(now) {
		return 0
	}
	n = max(0, min(n, l.room()))
	l.coming += n
	q.schedule(l)
	return n
}

// Unreserve gives up what Reserve has promised.
func (q *Queue[T]) Unreserve(id string, n int) {
	l := q.lane(id)
	l.coming -= n
	q.schedule(l)
}

// Add puts items into their lane, for which there was a reservation or a claim.
func (q *Queue[T]) Add(id string, items []T, until time.Time) {
	l := q.lane(id)
	l.coming -= len(items)
	for _, value := range items {
		l.items.push(item[T]{value, until})
	}
	q.waiting += len(items)
	q.enlist(l)
	q.schedule(l)
}

// Due notes that the store has something due for a lane at a time.
func (q *Queue[T]) Due(id string, at time.Time) {
	l := q.lane(id)
	if l.next.IsZero() || at.Before(l.next) {
		l.next = at
		q.schedule(l)
	}
}

// Claim is what should be asked of the store.
type Claim struct {
	Lane string
	Most int
}

// Claims says what should be asked of the store now. Each is to be answered with
// Claimed.
func (q *Queue[T]) Claims(now time.Time) (claims []Claim) {
	rows := 0
	for len(claims) < mostLanes && rows < mostRows {
		l := q.due.first()
		if l == nil || l.next.After(now) {
			break
		}
		n := min(l.room(), mostOfLane, mostRows-rows)
		l.coming += n
		l.next = time.Time{}
		q.schedule(l)
		claims = append(claims, Claim{l.id, n})
		rows += n
	}
	return claims
}

// Claimed brings what the store had for a claim, and when it has more: next is
// zero for never. Of a lane whose claim could not be made, next is when to try
// again.
func (q *Queue[T]) Claimed(c Claim, items []T, until, next time.Time) {
	l := q.lane(c.Lane)
	l.coming -= c.Most - len(items)
	q.Add(c.Lane, items, until)
	if !next.IsZero() {
		q.Due(c.Lane, next)
	}
	q.schedule(l)
}

// Wake is when Claims will have something to ask; zero for never, as things are.
func (q *Queue[T]) Wake() time.Time {
	if l := q.due.first(); l != nil {
		return l.next
	}
	return time.Time{}
}

// Next takes an item whose attempt should begin now; false when there is none,
// or no room for one. The lane is the one to tell Done about.
func (q *Queue[T]) Next(now time.Time) (id string, value T, ok bool) {
	for q.flying < q.limits.All {
		l := q.turn()
		if l == nil {
			break
		}
		if l.flying >= l.width { // it has become narrower since it was put there
			continue
		}
		it := l.items.pop()
		q.waiting--
		if it.until.Sub(now) < q.limits.Timeout+q.limits.Margin {
			q.expired = append(q.expired, it.value)
			q.enlist(l)
			q.schedule(l)
			continue
		}
		l.flying++
		q.flying++
		if !l.answers {
			q.unproven++
		}
		q.enlist(l)
		return l.id, it.value, true
	}
	return "", value, false
}

// turn takes the lane whose turn it is out of its ring.
func (q *Queue[T]) turn() *lane[T] {
	open := q.unproven < max(1, q.limits.All-q.limits.All/reserved)
	if l := q.answering.pop(); l != nil {
		// Every other turn goes to the others, so that neither kind waits for the other
		// to have nothing.
		if q.answering.turns++; q.answering.turns%2 == 0 && open && !q.others.empty() {
			q.answering.push(l)
			return q.others.pop()
		}
		return l
	}
	if !open {
		return nil
	}
	return q.others.pop()
}

// Done notes that an attempt has ended: what it took, and whether that was
// because its time was over.
func (q *Queue[T]) Done(id string, took time.Duration, slow bool) {
	l := q.lane(id)
	answered := l.answers
	q.leave(l, answered)
	l.took += (took - l.took) / 4
	switch {
	case slow:
		l.width = max(1, l.width/2)
	case l.width < q.limits.Lane:
		l.width++
	}
	if l.answers = !slow; l.answers != answered { // those under way change sides with it
		q.change(l)
	}
	q.enlist(l)
	q.schedule(l)
}

// Abandon notes that an item of Next was not attempted after all.
func (q *Queue[T]) Abandon(id string) {
	l := q.lane(id)
	q.leave(l, l.answers)
	q.enlist(l)
	q.schedule(l)
}

func (q *Queue[T]) leave(l *lane[T], answers bool) {
	l.flying--
	q.flying--
	if !answers {
		q.unproven--
	}
}

// change moves a lane to the other ring.
func (q *Queue[T]) change(l *lane[T]) {
	if l.answers {
		q.unproven -= l.flying
	} else {
		q.unproven += l.flying
	}
	if l.ready {
		q.answering.remove(l)
		q.others.remove(l)
	}
}

// Expired takes the items whose lease was too short for an attempt.
func (q *Queue[T]) Expired() []T {
	out := q.expired
	q.expired = nil
	return out
}

// HasExpired says whether Expired has something.
func (q *Queue[T]) HasExpired() bool { return len(q.expired) > 0 }

// Drain takes every item that is not under way.
func (q *Queue[T]) Drain() []T {
	out := q.Expired()
	for _, l := range q.lanes {
		for !l.items.empty() {
			out = append(out, l.items.pop().value)
			q.waiting--
		}
		if l.ready {
			q.answering.remove(l)
			q.others.remove(l)
		}
	}
	return out
}

// Size is how many lanes there are, how many items are in memory and not under
// way, and how many are under way.
func (q *Queue[T]) Size() (lanes, waiting, flying int) { return len(q.lanes), q.waiting, q.flying }

// window is how many items a lane should hold.
func (l *lane[T]) window() int {
	most := mostHeld
	if l.took > 0 {
		most = min(most, int(int64(l.width)*int64(horizon)/int64(l.took)))
	}
	return max(most, l.width)
}

// room is how many more items a lane should hold.
func (l *lane[T]) room() int { return l.window() - l.items.len() - l.flying - l.coming }

// hungry says that it is time to ask the store: when a lane has nothing left to
// send, or room for a quarter of what it holds. A claim for each item that is
// sent would cost more than the items.
func (l *lane[T]) hungry() bool {
	room := l.room()
	return room > 0 && (l.items.empty() && l.coming == 0 || 4*room >= l.window())
}

// enlist puts a lane into its ring, when it could send.
func (q *Queue[T]) enlist(l *lane[T]) {
	if l.ready || l.items.empty() || l.flying >= l.width {
		return
	}
	if l.answers {
		q.answering.push(l)
	} else {
		q.others.push(l)
	}
}

// schedule puts a lane where its next time belongs: nowhere while it wants
// nothing, or has no time.
func (q *Queue[T]) schedule(l *lane[T]) { q.due.place(l, !l.next.IsZero() && l.hungry()) }

// Forget drops what is known of an endpoint that is gone, when nothing of it is
// left.
func (q *Queue[T]) Forget(id string) {
	l := q.lanes[id]
	if l == nil || !l.items.empty() || l.flying > 0 || l.coming > 0 {
		return
	}
	q.due.place(l, false)
	delete(q.lanes, id)
}
