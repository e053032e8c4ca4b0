// Package scheduler decides which delivery is attempted next. Each endpoint has a lane (a queue) with its own limit of
// attempts in flight.
//
// A lane buffers in memory only the deliveries that it can send soon. The others stay in the store until the queue
// claims them. Lanes with short attempts buffer more deliveries than lanes with long ones, but get no more slots.
//
// The attempts in flight are also limited for each host and for all lanes together. The part of these limits that a
// lane may use depends on its class: how the last attempt at its endpoint ended. Slow and failing lanes cannot use all
// slots, so some are left to quick and untried lanes.
package scheduler

import "time"

// Limits bound the attempts in flight.
type Limits struct {
	// Lane limits the attempts in flight at one endpoint. Host limits them at one host and port over all endpoints; 0
	// means no limit. All limits the attempts in flight at all endpoints.
	Lane, Host, All int
	// HostOf returns the host and port of a lane's endpoint. If it is nil or returns "", the host limits do not apply to
	// the lane.
	HostOf func(lane string) string
	// Unproven limits the attempts a minute at a host that has acknowledged no attempt in the last 10 minutes
	// (proofLasts); 0 means no limit.
	Unproven int
	// Timeout is the maximum duration of an attempt. An attempt starts only if its lease lasts for
	// at least the sum of Timeout and Margin.
	Timeout, Margin time.Duration
	// Starts limits the attempts that start per second at slow and untried endpoints; 0 means
	// no limit. It spreads retries that are due at the same time.
	Starts int
	// FailingStarts limits the attempts that start per second at failing endpoints; 0 means no
	// limit. Each attempt costs a claim, a connection and a record.
	FailingStarts int
}

const (
	// horizon is the time for which a lane buffers deliveries in advance. It is longer than the duration of a claim. It
	// is shorter than the time for which a leased delivery may wait before its attempt must start.
	horizon = 2 * time.Second
	// maxBuffered bounds the items of a lane in memory. An endpoint with 5,000 attempts a second uses that many items in
	// 0.2 s.
	maxBuffered = 1024
	// maxClaimLanes and maxClaimRows bound one claim to keep its transaction short.
	maxClaimLanes = 64
	maxClaimRows  = 128
	// maxLaneRows bounds the rows of one lane in a claim, to leave rows for other lanes.
	maxLaneRows = 64
)

// Queue schedules items of type T in lanes, one per endpoint. It is not safe for concurrent use.
type Queue[T any] struct {
	limits        Limits
	lanes         map[string]*lane[T]
	groups        [classes]group[T]
	starts        tokenBucket // starts at slow and untried endpoints
	failingStarts tokenBucket // starts at failing endpoints
	hosts         map[string]*host[T]
	tokenWaiters  timeHeap[*host[T]] // unproven hosts whose lanes wait for a token
	clock         time.Time          // latest time passed to the queue
	picks         int                // calls of pickLane
	inFlight      int                // items in flight
	buffered      int                // items in memory that are not in flight
	expired       []T
}

// item is a value of type T with the end of its lease.
type item[T any] struct {
	value T
	until time.Time
}

// New returns an empty queue.
func New[T any](l Limits) *Queue[T] {
	return &Queue[T]{
		limits: l, lanes: map[string]*lane[T]{}, hosts: map[string]*host[T]{},
		starts: newTokenBucket(float64(l.Starts)), failingStarts: newTokenBucket(float64(l.FailingStarts)),
	}
}

// Add appends items to their lane. Reserve or Claims has reserved room for them. `until` is the end of their lease.
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

// Due records that the store has an item of the lane `id` that is due at the time `at`.
func (q *Queue[T]) Due(id string, at time.Time) {
	l := q.lane(id)
	if l.next.IsZero() || at.Before(l.next) {
		l.next = at
		q.schedule(l)
	}
}

// Expired removes and returns the items that Next could not start because their leases end too soon for an attempt.
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

// Prune removes the lanes of endpoints that no longer exist (`there` returns false), except lanes that still have
// items.
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

// Size returns the number of lanes, of items in memory that are not in flight, and of items in flight.
func (q *Queue[T]) Size() (lanes, waiting, flying int) { return len(q.lanes), q.buffered, q.inFlight }
