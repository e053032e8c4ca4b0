// Package scheduler decides what is sent next: every endpoint has a lane of its own,
// with its own number of attempts under way, so that none waits for another.
//
// A lane holds in memory only what it can send soon; the rest stays in the store
// until the queue claims it. How much that is follows from how fast the endpoint
// answers. How many attempts are in flight does not: attempts at an endpoint that
// hangs start when they are due, as long as the lane has a slot.
//
// Lanes share two more limits: one of each host over all its lanes, and one of all
// lanes. What a lane may use of both depends on its class: however many endpoints
// hang, answer slowly or fail, one that acknowledges quickly finds a slot, and so
// does one that is untried. Attempts at failing endpoints start after all others.
package scheduler

import (
	"time"
)

// Limits bound what is under way.
type Limits struct {
	// Lane is how many attempts may be in flight at one endpoint, Host at one host
	// over all its endpoints, All at all of them. Host 0 is no limit.
	Lane, Host, All int
	// HostOf returns the host and port of a lane; "" for one without a host, which no
	// limit of hosts applies to. Nil is that for all lanes.
	HostOf func(lane string) string
	// Unproven is how many attempts a minute start at a host that is not proven; 0 for
	// any number. An acknowledgement proves a host for proofLasts.
	Unproven int
	// Timeout is the longest that an attempt can take. Nothing is begun with less
	// than that, and Margin, left of its lease.
	Timeout, Margin time.Duration
	// Starts is how many attempts a second are begun at endpoints that are not
	// quick; 0 for any number. A thousand of them whose time is over at the same
	// moment would otherwise be called at the same moment, and others wait for that.
	Starts int
	// FailingStarts is how many attempts a second start at failing endpoints; 0 for any
	// number. Each costs a claim, a connection and a record, which others wait for.
	FailingStarts int
}

// Policy of the lanes.
const (
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
	pace    pace // of starts at endpoints that are not quick
	failing pace // of starts at failing endpoints
	hosts   map[string]*host[T]
	starved hostHeap[T] // hosts whose lanes wait for a token
	clock   time.Time   // the newest time that the queue was given
	turns   int         // that were given
	flying  int         // under way
	waiting int         // in memory and not under way
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
	took   time.Duration // a running mean of what an attempt takes
	host   *host[T]      // nil for none
	// coming is how many were reserved, or asked of the store, and are not here.
	coming int
	next   time.Time // when the store has something due; zero for nothing known
	asked  time.Time // when the store was asked last
	place  int       // in the schedule of its class; -1 for none
	turn   turn[T]   // in the ring of its class, or among the parked ones of its host
	wait   turn[T]   // among those of its host whose claims wait
}

// New returns an empty queue.
func New[T any](l Limits) *Queue[T] {
	return &Queue[T]{
		limits: l, lanes: map[string]*lane[T]{}, hosts: map[string]*host[T]{},
		pace: newPace(float64(l.Starts)), failing: newPace(float64(l.FailingStarts)),
	}
}

func (q *Queue[T]) lane(id string) *lane[T] {
	l := q.lanes[id]
	if l == nil {
		l = &lane[T]{id: id, class: untried, took: q.limits.Timeout, place: -1}
		q.lanes[id] = l
	}
	q.settle(l)
	return l
}

// Reserve asks for room for n items that are about to be stored, and says for how
// many there is. They are then added with Add, or given up with Unreserve. There
// is none behind items that are due in the store already: those are older.
func (q *Queue[T]) Reserve(id string, n int, now time.Time) int {
	q.clock = now
	l := q.lane(id)
	if !l.next.IsZero() && !l.next.After(now) {
		return 0
	}
	n = max(0, min(n, q.room(l), q.budget(l.class), q.hostBudget(l.host)))
	q.come(l, n)
	q.schedule(l)
	return n
}

// Unreserve gives up what Reserve has promised.
func (q *Queue[T]) Unreserve(id string, n int) {
	l := q.lane(id)
	q.come(l, -n)
	q.schedule(l)
	q.wake(l.host)
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
	q.refill(now)
	rows := 0
	for c := range class(classes) {
		for len(claims) < mostLanes && rows < mostRows {
			l, budget := q.groups[c].due.first(), q.budget(c)
			if l == nil || l.next.After(now) || budget <= 0 {
				break
			}
			host := q.hostBudget(l.host)
			if host <= 0 {
				q.postpone(l)
				continue
			}
			n := min(q.room(l), mostOfLane, mostRows-rows, budget, host)
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
	q.wake(l.host)
}

// Wake is when Claims will have something to ask; zero for never, as things are.
func (q *Queue[T]) Wake() (at time.Time) {
	for c := range class(classes) {
		if l := q.groups[c].due.first(); l != nil && q.budget(c) > 0 && (at.IsZero() || l.next.Before(at)) {
			at = l.next
		}
	}
	return q.orStarved(at)
}

// Next takes an item whose attempt should begin now; false when there is none,
// or no room for one. The lane is the one to tell Done or Abandon about.
func (q *Queue[T]) Next(now time.Time) (id string, value T, ok bool) {
	q.refill(now)
	for q.flying < q.limits.All {
		l := q.take(now)
		if l == nil {
			break
		}
		it := l.items.pop()
		q.hold(l, -1)
		if it.until.Sub(now) < q.limits.Timeout+q.limits.Margin {
			q.expired = append(q.expired, it.value)
		} else {
			q.fly(l, 1)
			q.spend(l)
			id, value, ok = l.id, it.value, true
		}
		q.enlist(l)
		q.schedule(l)
		q.wake(l.host) // there may be slots left for its other lanes
		if ok {
			return id, value, true
		}
	}
	return "", value, false
}

// Paced is when Next will have something although nothing else happens: when the
// pace of starts allows the next, or an unproven host gets another attempt. Zero for
// never, as things are.
func (q *Queue[T]) Paced(now time.Time) (at time.Time) {
	if q.flying >= q.limits.All {
		return time.Time{}
	}
	for _, c := range [...]class{untried, slow, failing} {
		if p := q.paceOf(c); q.mayFly(c) && q.groups[c].ring.list.Len() > 0 && !p.allows(now) {
			at = earlier(at, p.next(now))
		}
	}
	return q.orStarved(at)
}

// Ended says how an attempt ended.
type Ended struct {
	At   time.Time
	Took time.Duration
	OK   bool // the endpoint acknowledged
	// TimedOut says that the time of the attempt was over.
	TimedOut bool
}

// Done notes that an attempt has ended.
func (q *Queue[T]) Done(id string, e Ended) {
	l := q.lane(id)
	q.fly(l, -1)
	l.took += (e.Took - l.took) / 4
	q.answered(l.host, e)
	q.move(l, classOf(e))
	q.enlist(l)
	q.schedule(l)
	q.wake(l.host)
}

// Abandon notes that an item of Next was not attempted after all.
func (q *Queue[T]) Abandon(id string) {
	l := q.lane(id)
	q.fly(l, -1)
	q.enlist(l)
	q.schedule(l)
	q.wake(l.host)
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
			l.wait.leave()
			q.leaveHost(l)
			delete(q.lanes, id)
		}
	}
	q.forgetHosts()
}

// Size is how many lanes there are, how many items are in memory and not under
// way, and how many are under way.
func (q *Queue[T]) Size() (lanes, waiting, flying int) { return len(q.lanes), q.waiting, q.flying }

// window is how many items a lane should hold.
func (q *Queue[T]) window(l *lane[T]) int { return windowOf(q.limits.Lane, l.took) }

// windowOf is how many items are sent within the horizon by so many slots, each of
// which is busy for took; at least one for each slot.
func windowOf(slots int, took time.Duration) int {
	most := mostHeld
	if took > 0 {
		most = min(most, int(int64(slots)*int64(horizon)/int64(took)))
	}
	return max(most, slots)
}

// room is how many more items a lane should hold.
func (q *Queue[T]) room(l *lane[T]) int { return q.window(l) - l.items.len() - l.flying - l.coming }

// hungry says that it is time to ask the store: when a lane has nothing left to
// send, or room for a quarter of what it holds. A claim for each item that is
// sent would cost more than the items.
func (q *Queue[T]) hungry(l *lane[T]) bool {
	room := q.room(l)
	return room > 0 && (l.items.empty() && l.coming == 0 || 4*room >= q.window(l))
}

// schedule puts a lane where its next time belongs: nowhere while it wants nothing,
// has no time, or its host has no room for what it would claim.
func (q *Queue[T]) schedule(l *lane[T]) {
	q.groups[l.class].due.place(l, !l.next.IsZero() && q.hungry(l) && !l.wait.in())
}
