// Package scheduler decides which delivery is attempted next. Each endpoint has a lane
// with its own slots, so that no endpoint delays another.
//
// A lane buffers in memory only what it can send soon. The rest stays in the store until
// the queue claims it. The buffer grows with the speed of the endpoint; the number of
// slots is fixed. Retries at an endpoint that times out therefore start on time while the
// lane has a slot.
//
// Lanes share two more limits: one per host, and one over all lanes. The share that a lane
// may use depends on its class: how its endpoint behaved last. Slow and failing lanes cannot
// use all slots, so quick and untried endpoints always find one. Attempts at failing
// endpoints start last.
package scheduler

import (
	"time"
)

// Limits bound the attempts in flight.
type Limits struct {
	// Lane limits the attempts in flight at one endpoint. Host limits those at one host and
	// port over all its endpoints; 0 means no limit. All limits the total.
	Lane, Host, All int
	// HostOf returns the host and port of a lane; "" exempts the lane from host limits.
	// If it is nil, all lanes are exempt.
	HostOf func(lane string) string
	// Unproven limits the attempts a minute at a host that has not acknowledged one within
	// proofLasts; 0 means no limit.
	Unproven int
	// Timeout is the maximum duration of an attempt. An attempt starts only if its lease
	// lasts for at least Timeout and Margin.
	Timeout, Margin time.Duration
	// Starts limits the attempts that start per second at endpoints that are not in the
	// class quick; 0 means no limit. It spreads retries that are due at the same moment.
	Starts int
	// FailingStarts limits the attempts that start per second at failing endpoints; 0 means no
	// limit. Each attempt costs a claim, a connection and a record.
	FailingStarts int
}

const (
	// horizon is how far ahead a lane buffers deliveries. It is longer than a claim takes, and
	// shorter than the part of a lease that exceeds Timeout and Margin.
	horizon = 2 * time.Second
	// maxBuffered bounds the items of a lane in memory. At 5,000 attempts a second, the lane
	// needs five claims a second.
	maxBuffered = 1024
	// maxClaimLanes and maxClaimRows bound one claim to keep its transaction short.
	maxClaimLanes = 64
	maxClaimRows  = 128
	// maxLaneRows bounds the rows that a claim gets for one lane, to leave some for others.
	maxLaneRows = 64
)

// Queue schedules items of type T in lanes, one per endpoint. It is not safe for concurrent use.
type Queue[T any] struct {
	limits        Limits
	lanes         map[string]*lane[T]
	groups        [classes]group[T]
	starts        tokenBucket // starts at endpoints that are not quick
	failingStarts tokenBucket // starts at failing endpoints
	hosts         map[string]*host[T]
	tokenWaiters  timeHeap[*host[T]] // hosts whose lanes wait for a token of the limit Unproven
	clock         time.Time          // latest time passed to the queue
	picks         int                // calls of pickLane
	inFlight      int                // items in flight
	buffered      int                // items in memory that are not in flight
	expired       []T
}

// item is a T with the end of its lease.
type item[T any] struct {
	value T
	until time.Time
}

// lane is the queue of one endpoint.
type lane[T any] struct {
	id       string
	class    class
	items    fifo[item[T]]
	inFlight int
	took     time.Duration // moving average of the duration of an attempt
	host     *host[T]      // nil for none
	// reserved counts items that are reserved or being claimed.
	reserved  int
	next      time.Time    // when the next item in the store is due; zero if unknown
	claimedAt time.Time    // time of the last claim
	index     int          // index in the due heap of its class; -1 for none
	sendEntry ringEntry[T] // position in the ring (round-robin list) of its class, or parked at its host
	roomEntry ringEntry[T] // position among the lanes that wait for room at their host
}

// at returns the time that orders a lane in a heap: its due time or its last claim, the later of
// the two. By the due time alone, the lane with the oldest deliveries would always be first.
func (l *lane[T]) at() time.Time {
	if l.claimedAt.After(l.next) {
		return l.claimedAt
	}
	return l.next
}

func (l *lane[T]) position() *int { return &l.index }

// New returns an empty queue.
func New[T any](l Limits) *Queue[T] {
	return &Queue[T]{
		limits: l, lanes: map[string]*lane[T]{}, hosts: map[string]*host[T]{},
		starts: newTokenBucket(float64(l.Starts)), failingStarts: newTokenBucket(float64(l.FailingStarts)),
	}
}

func (q *Queue[T]) lane(id string) *lane[T] {
	l := q.lanes[id]
	if l == nil {
		l = &lane[T]{id: id, class: untried, took: q.limits.Timeout, index: -1}
		q.lanes[id] = l
	}
	q.assignHost(l)
	return l
}

// Reserve reserves room in memory for at most n items that are about to be stored. It returns the
// number reserved, for which the caller calls Add or Unreserve. It returns 0 while the store has
// older items of the lane that are due.
func (q *Queue[T]) Reserve(id string, n int, now time.Time) int {
	q.clock = now
	l := q.lane(id)
	if !l.next.IsZero() && !l.next.After(now) {
		return 0
	}
	n = max(0, min(n, q.room(l), q.budget(l.class), q.hostBudget(l.host)))
	q.addReserved(l, n)
	q.schedule(l)
	return n
}

// Unreserve releases reservations made by Reserve.
func (q *Queue[T]) Unreserve(id string, n int) {
	l := q.lane(id)
	q.addReserved(l, -n)
	q.schedule(l)
	q.wake(l.host)
}

// Add appends items that were reserved or claimed to their lane.
func (q *Queue[T]) Add(id string, items []T, until time.Time) {
	l := q.lane(id)
	q.addReserved(l, -len(items))
	for _, value := range items {
		l.items.push(item[T]{value, until})
	}
	q.addBuffered(l, len(items))
	q.enqueue(l)
	q.schedule(l)
}

// Due records that the store has an item of the lane that is due at a time.
func (q *Queue[T]) Due(id string, at time.Time) {
	l := q.lane(id)
	if l.next.IsZero() || at.Before(l.next) {
		l.next = at
		q.schedule(l)
	}
}

// Claim is a request to claim items from the store.
type Claim struct {
	Lane  string
	Limit int
}

// Claims returns the claims to make now. The caller calls Claimed for each of them.
func (q *Queue[T]) Claims(now time.Time) (claims []Claim) {
	q.refill(now)
	rows := 0
	for c := range class(classes) {
		for len(claims) < maxClaimLanes && rows < maxClaimRows {
			l, budget := q.groups[c].due.first(), q.budget(c)
			if l == nil || l.next.After(now) || budget <= 0 {
				break
			}
			host := q.hostBudget(l.host)
			if host <= 0 {
				q.awaitRoom(l)
				continue
			}
			n := min(q.room(l), maxLaneRows, maxClaimRows-rows, budget, host)
			q.addReserved(l, n)
			l.next, l.claimedAt = time.Time{}, now
			q.schedule(l)
			claims = append(claims, Claim{l.id, n})
			rows += n
		}
	}
	return claims
}

// Claimed adds the result of a claim. next is when the next item of the lane in the store is due;
// zero for never. If the claim failed, next is when to retry it.
func (q *Queue[T]) Claimed(c Claim, items []T, until, next time.Time) {
	l := q.lane(c.Lane)
	q.addReserved(l, len(items)-c.Limit)
	q.Add(c.Lane, items, until)
	if !next.IsZero() {
		q.Due(c.Lane, next)
	}
	q.wake(l.host)
}

// NextClaim returns when Claims will have a claim; zero for never, unless the queue changes.
func (q *Queue[T]) NextClaim() (at time.Time) {
	for c := range class(classes) {
		if l := q.groups[c].due.first(); l != nil && q.budget(c) > 0 && (at.IsZero() || l.next.Before(at)) {
			at = l.next
		}
	}
	return q.orNextToken(at)
}

// Next returns the lane and the value of an item whose attempt starts now. ok is false if
// there is no item or no slot. The caller calls Done or Abandon for the lane.
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
		q.wake(l.host) // its other lanes may use slots that are left
		if ok {
			return id, value, true
		}
	}
	return "", value, false
}

// NextStart returns when rate limits will allow Next to return an item; zero if no item
// waits for a rate limit.
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

// MarkSlow puts an untried lane into the class slow, because earlier deliveries to it
// have failed.
func (q *Queue[T]) MarkSlow(id string) {
	if l := q.lane(id); l.class == untried {
		q.setClass(l, slow)
		q.enqueue(l)
		q.schedule(l)
	}
}

// Expired removes and returns the items whose lease is too short for an attempt.
func (q *Queue[T]) Expired() []T {
	out := q.expired
	q.expired = nil
	return out
}

// HasExpired reports whether Expired would return items.
func (q *Queue[T]) HasExpired() bool { return len(q.expired) > 0 }

// Drain removes and returns all items that are not in flight.
func (q *Queue[T]) Drain() []T {
	out := q.Expired()
	for _, l := range q.lanes {
		l.sendEntry.leave()
		for !l.items.empty() {
			out = append(out, l.items.pop().value)
			q.addBuffered(l, -1)
		}
	}
	return out
}

// Prune removes lanes without items whose endpoint no longer exists.
func (q *Queue[T]) Prune(there func(id string) bool) {
	for id, l := range q.lanes {
		if !there(id) && l.items.empty() && l.inFlight == 0 && l.reserved == 0 {
			q.groups[l.class].due.update(l, false)
			l.roomEntry.leave()
			q.leaveHost(l)
			delete(q.lanes, id)
		}
	}
	q.pruneHosts()
}

// Size returns the number of lanes, of items in memory that are not in flight, and of
// items in flight.
func (q *Queue[T]) Size() (lanes, waiting, flying int) { return len(q.lanes), q.buffered, q.inFlight }

// window returns how many items a lane should buffer.
func (q *Queue[T]) window(l *lane[T]) int { return windowOf(q.limits.Lane, l.took) }

// windowOf returns how many items a number of slots can send within the horizon, by the duration of
// an attempt. It is at least the number of slots.
func windowOf(slots int, took time.Duration) int {
	most := maxBuffered
	if took > 0 {
		most = min(most, int(int64(slots)*int64(horizon)/int64(took)))
	}
	return max(most, slots)
}

// room returns how many more items a lane should buffer.
func (q *Queue[T]) room(l *lane[T]) int { return q.window(l) - l.items.len() - l.inFlight - l.reserved }

// needsClaim reports whether a lane should claim: it has nothing to send, or room for a
// quarter of its window. A claim for each single item would cost more than its attempt.
func (q *Queue[T]) needsClaim(l *lane[T]) bool {
	room := q.room(l)
	return room > 0 && (l.items.empty() && l.reserved == 0 || 4*room >= q.window(l))
}

// schedule updates a lane in the due heap, which has the lanes to claim for. A lane is not in the
// heap if it needs no claim, has no due time, or waits for room at its host.
func (q *Queue[T]) schedule(l *lane[T]) {
	q.groups[l.class].due.update(l, !l.next.IsZero() && q.needsClaim(l) && !l.roomEntry.in())
}
