// Package queue decides what is sent next: every endpoint has a lane of its own,
// with its own number of attempts under way, so that none waits for another.
//
// A lane holds in memory only what it can send soon; the rest stays in the store
// until it is asked for. How much that is, and how many attempts are under way at
// once, follows from how the endpoint answers: a lane begins with two at once,
// gains one with every answer up to its limit, and loses half with every attempt
// that runs into its time-out. So a thousand dead endpoints hold a thousand
// connections and not eight thousand.
//
// All lanes together have a limit too. What of it lanes may use depends on their
// class: however many endpoints hang or answer slowly, one that answers quickly
// finds room, and so does one that nobody has tried yet.
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
	// Starts is how many attempts a second are begun at endpoints that are not
	// quick; 0 for any number. A thousand of them whose time is over at the same
	// moment would otherwise be called at the same moment, and others wait for that.
	Starts int
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
	// mostLanes and mostRows bound one claim, so that its transaction is short, and
	// mostOfLane leaves room in it for others.
	mostLanes  = 64
	mostRows   = 128
	mostOfLane = 64
)

// Queue holds items of type T in lanes. It belongs to one goroutine at a time.
type Queue[T any] struct {
	limits  Limits
	lanes   map[string]*lane[T]
	groups  [classes]group[T]
	pace    pace
	turns   int // that were given
	flying  int // under way
	waiting int // in memory and not under way
	expired []T
}

// item is one T with the end of its lease.
type item[T any] struct {
	value T
	until time.Time
}

// lane is one endpoint.
type lane[T any] struct {
	id     string
	class  class
	items  fifo[item[T]]
	flying int
	width  int           // how many may be under way now
	took   time.Duration // a running mean of what an attempt takes
	// coming is how many were reserved, or asked of the store, and are not here.
	coming int
	next   time.Time // when the store has something due; zero for nothing known
	asked  time.Time // when the store was asked last
	place  int       // in the schedule of its class; -1 for none
	turn   turn[T]   // in the ring of its class
}

// New returns an empty queue.
func New[T any](l Limits) *Queue[T] {
	return &Queue[T]{limits: l, lanes: map[string]*lane[T]{}, pace: pace{rate: float64(l.Starts)}}
}

func (q *Queue[T]) lane(id string) *lane[T] {
	l := q.lanes[id]
	if l == nil {
		l = &lane[T]{id: id, class: untried, width: min(firstWidth, q.limits.Lane), took: q.limits.Timeout, place: -1}
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
	n = max(0, min(n, l.room(), q.budget(l.class)))
	q.come(l, n)
	q.schedule(l)
	return n
}

// Unreserve gives up what Reserve has promised.
func (q *Queue[T]) Unreserve(id string, n int) {
	l := q.lane(id)
	q.come(l, -n)
	q.schedule(l)
}

// Add puts items into their lane, for which there was a reservation or a claim.
func (q *Queue[T]) Add(id string, items []T, until time.Time) {
	l := q.lane(id)
	q.come(l, -len(items))
	for _, value := range items {
		l.items.push(item[T]{value, until})
	}
	q.hold(l, len(items))
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
	for c := range class(classes) {
		for len(claims) < mostLanes && rows < mostRows {
			l, budget := q.groups[c].due.first(), q.budget(c)
			if l == nil || l.next.After(now) || budget <= 0 {
				break
			}
			n := min(l.room(), mostOfLane, mostRows-rows, budget)
			q.come(l, n)
			l.next, l.asked = time.Time{}, now
			q.schedule(l)
			claims = append(claims, Claim{l.id, n})
			rows += n
		}
	}
	return claims
}

// Claimed brings what the store had for a claim, and when it has more: next is
// zero for never. Of a lane whose claim could not be made, next is when to try
// again.
func (q *Queue[T]) Claimed(c Claim, items []T, until, next time.Time) {
	l := q.lane(c.Lane)
	q.come(l, len(items)-c.Most)
	q.Add(c.Lane, items, until)
	if !next.IsZero() {
		q.Due(c.Lane, next)
	}
}

// Wake is when Claims will have something to ask; zero for never, as things are.
func (q *Queue[T]) Wake() (at time.Time) {
	for c := range class(classes) {
		if l := q.groups[c].due.first(); l != nil && q.budget(c) > 0 && (at.IsZero() || l.next.Before(at)) {
			at = l.next
		}
	}
	return at
}

// Next takes an item whose attempt should begin now; false when there is none,
// or no room for one. The lane is the one to tell Done or Abandon about.
func (q *Queue[T]) Next(now time.Time) (id string, value T, ok bool) {
	for q.flying < q.limits.All {
		l := q.take(now)
		if l == nil {
			break
		}
		if l.flying >= l.width { // it has become narrower since it was put there
			continue
		}
		it := l.items.pop()
		q.hold(l, -1)
		if it.until.Sub(now) < q.limits.Timeout+q.limits.Margin {
			q.expired = append(q.expired, it.value)
		} else {
			q.fly(l, 1)
			if l.class != quick {
				q.pace.spend()
			}
			id, value, ok = l.id, it.value, true
		}
		q.enlist(l)
		q.schedule(l)
		if ok {
			return id, value, true
		}
	}
	return "", value, false
}

// Paced is when Next will have something although nothing else happens: when the
// pace of starts allows the next. Zero for never, as things are.
func (q *Queue[T]) Paced(now time.Time) time.Time {
	if q.flying >= q.limits.All || q.pace.allows(now) {
		return time.Time{}
	}
	for _, c := range [...]class{untried, slow} {
		if q.mayFly(c) && q.groups[c].ring.list.Len() > 0 {
			return q.pace.next(now)
		}
	}
	return time.Time{}
}

// Done notes that an attempt has ended: what it took, and whether that was
// because its time was over.
func (q *Queue[T]) Done(id string, took time.Duration, slow bool) {
	l := q.lane(id)
	q.fly(l, -1)
	l.took += (took - l.took) / 4
	switch {
	case slow:
		l.width = max(1, l.width/2)
	case l.width < q.limits.Lane:
		l.width++
	}
	q.move(l, classOf(took, slow))
	q.enlist(l)
	q.schedule(l)
}

// Abandon notes that an item of Next was not attempted after all.
func (q *Queue[T]) Abandon(id string) {
	l := q.lane(id)
	q.fly(l, -1)
	q.enlist(l)
	q.schedule(l)
}

// Suspect notes that a lane has deliveries that have failed before: as long as
// nobody has tried it himself, it is taken for a slow one.
func (q *Queue[T]) Suspect(id string) {
	if l := q.lane(id); l.class == untried {
		q.move(l, slow)
		q.enlist(l)
		q.schedule(l)
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
		l.turn.leave()
		for !l.items.empty() {
			out = append(out, l.items.pop().value)
			q.hold(l, -1)
		}
	}
	return out
}

// Keep forgets the endpoints that are gone, as soon as nothing of them is left.
func (q *Queue[T]) Keep(there func(id string) bool) {
	for id, l := range q.lanes {
		if !there(id) && l.items.empty() && l.flying == 0 && l.coming == 0 {
			q.groups[l.class].due.place(l, false)
			delete(q.lanes, id)
		}
	}
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

// schedule puts a lane where its next time belongs: nowhere while it wants
// nothing, or has no time.
func (q *Queue[T]) schedule(l *lane[T]) {
	q.groups[l.class].due.place(l, !l.next.IsZero() && l.hungry())
}
