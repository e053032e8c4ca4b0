package scheduler

import (
	"container/heap"
	"math"
	"slices"
	"time"
)

// proofLasts is for how long an acknowledgement proves that a host takes webhooks.
// An endpoint that is down for longer loses attempts that would fail.
const proofLasts = 10 * time.Minute

// starvedLook is below the 2 s in which an attempt that is due starts.
const starvedLook = time.Second

// host is what all lanes to one host and port share. Its methods do nothing on nil.
type host[T any] struct {
	name        string
	lanes       int
	inFlight    [classes]int
	held        int           // items in memory, or on their way there, and not in flight
	took        time.Duration // a running mean of what an attempt takes
	provenUntil time.Time
	tokens      pace             // of attempts while the host is not proven
	parked      [classes]ring[T] // lanes that could send if the host had a slot
	asking      ring[T]          // lanes that could claim if the host had room
	place       int              // among the starved; -1 for none
	tokenAt     time.Time        // when there is a token
}

func (h *host[T]) hold(n int) {
	if h != nil {
		h.held += n
	}
}

func (h *host[T]) fly(c class, n int) {
	if h != nil {
		h.inFlight[c] += n
	}
}

func (h *host[T]) flying() (n int) {
	for _, of := range h.inFlight {
		n += of
	}
	return n
}

// settle makes a lane belong to the host that its endpoint has now. A lane with
// attempts in flight keeps its host until they have ended, so that they stay counted
// where they are.
func (q *Queue[T]) settle(l *lane[T]) {
	name := q.hostName(l)
	if l.flying > 0 || l.host == nil && name == "" || l.host != nil && l.host.name == name {
		return
	}
	parked, waited := l.turn.in(), l.wait.in()
	l.turn.leave()
	l.wait.leave()
	q.leaveHost(l)
	if name != "" {
		h := q.hosts[name]
		if h == nil {
			n := float64(q.limits.Unproven)
			h = &host[T]{name: name, took: q.limits.Timeout, place: -1, tokens: pace{rate: n / 60, burst: n}}
			q.hosts[name] = h
		}
		h.lanes++
		h.held += l.items.len() + l.coming
		l.host = h
	}
	if parked {
		q.enlist(l)
	}
	if waited {
		q.schedule(l)
	}
}

func (q *Queue[T]) hostName(l *lane[T]) string {
	if q.limits.HostOf == nil {
		return ""
	}
	return q.limits.HostOf(l.id)
}

func (q *Queue[T]) leaveHost(l *lane[T]) {
	if h := l.host; h != nil {
		h.lanes--
		h.held -= l.items.len() + l.coming
		l.host = nil
		q.wake(h)
	}
}

// forgetHosts forgets hosts without lanes whose bucket is full. Others stay, else a
// client would empty the bucket, delete its webhook and make it again.
func (q *Queue[T]) forgetHosts() {
	for name, h := range q.hosts {
		h.tokens.allows(q.clock)
		if h.lanes == 0 && h.place < 0 && h.tokens.tokens >= h.tokens.burst {
			delete(q.hosts, name)
		}
	}
}

// slots is how many attempts of a class and of those behind it may be in flight at a
// host, so that lanes that hang leave slots to those that answer. One lane alone may
// always use all slots of a lane.
func (q *Queue[T]) slots(c class) int {
	switch most := q.limits.Host; c {
	case slow, failing:
		return min(most, max(q.limits.Lane, most/2))
	case untried:
		return min(most, max(q.limits.Lane, most-most/4))
	default:
		return most
	}
}

// hasSlot reports whether another attempt of a class may be in flight at a host.
func (q *Queue[T]) hasSlot(h *host[T], c class) bool {
	if h == nil || q.limits.Host == 0 {
		return true
	}
	troubled := h.inFlight[slow] + h.inFlight[failing]
	behind := [...]int{quick: h.flying(), untried: troubled + h.inFlight[untried], slow: troubled, failing: troubled}
	return h.flying() < q.limits.Host && behind[c] < q.slots(c)
}

// proven reports whether a host acknowledged an attempt lately, or need not have.
func (q *Queue[T]) proven(h *host[T]) bool {
	return q.limits.Unproven == 0 || q.clock.Before(h.provenUntil)
}

// hasToken reports whether a host may get another attempt as far as its proof goes.
func (q *Queue[T]) hasToken(h *host[T]) bool {
	return h == nil || q.proven(h) || h.tokens.allows(q.clock)
}

// admits reports whether a lane that left its ring may send. One that may not is
// parked at its host, or enlisted again when what is in flight has ended.
func (q *Queue[T]) admits(l *lane[T]) bool {
	if name := q.hostName(l); l.flying > 0 && name != "" && (l.host == nil || l.host.name != name) {
		return false
	}
	q.settle(l)
	switch {
	case !q.hasSlot(l.host, l.class):
	case !q.hasToken(l.host):
		q.starve(l.host)
	default:
		return true
	}
	l.turn.join(&l.host.parked[l.class], l)
	return false
}

// unpark enlists one parked lane of each class for which a host has a slot. It is
// called when a slot is free again, and when an enlisted lane of the host has left
// its ring: as long as there is a slot, one of the parked lanes is enlisted.
func (q *Queue[T]) unpark(h *host[T]) {
	if h == nil || !q.hasToken(h) {
		return // starve has it woken
	}
	for c := range class(classes) {
		if h.parked[c].list.Len() > 0 && q.hasSlot(h, c) {
			l := h.parked[c].pop()
			l.turn.join(&q.groups[c].ring, l)
		}
	}
}

// wake lets lanes of a host send and claim that waited for it.
func (q *Queue[T]) wake(h *host[T]) {
	if h == nil {
		return
	}
	q.unpark(h)
	for range min(q.hostBudget(h), h.asking.list.Len()) {
		l := h.asking.front()
		l.wait.leave()
		q.schedule(l)
	}
	if !q.proven(h) && h.place < 0 && (h.asking.list.Len() > 0 || h.parks()) {
		q.starve(h)
	}
}

// parks reports whether lanes of a host are parked.
func (h *host[T]) parks() bool {
	return slices.ContainsFunc(h.parked[:], func(r ring[T]) bool { return r.list.Len() > 0 })
}

// hostBudget is how many more items to a host should be in memory: as many as it can
// get within the horizon, and for a host that is not proven as many as it may get now.
func (q *Queue[T]) hostBudget(h *host[T]) int {
	if h == nil {
		return math.MaxInt
	}
	budget := math.MaxInt
	if q.limits.Host > 0 {
		budget = windowOf(q.limits.Host, h.took) - h.flying() - h.held
	}
	if !q.proven(h) {
		h.tokens.allows(q.clock)
		budget = min(budget, int(h.tokens.tokens)-h.held)
	}
	return budget
}

// postpone takes a due lane out of the schedule until its host has room.
func (q *Queue[T]) postpone(l *lane[T]) {
	q.groups[l.class].due.place(l, false)
	l.wait.join(&l.host.asking, l)
	if !q.proven(l.host) {
		q.starve(l.host)
	}
}

// answered notes how an attempt at a host ended.
func (q *Queue[T]) answered(h *host[T], e Ended) {
	if h == nil {
		return
	}
	h.took += (e.Took - h.took) / 4
	if e.OK {
		h.provenUntil = e.At.Add(proofLasts)
	}
}

// starve has an unproven host woken when it has a token. It has one already if what it
// may get is on its way; then it is looked at again after starvedLook.
func (q *Queue[T]) starve(h *host[T]) {
	h.tokenAt = q.clock.Add(starvedLook)
	if at := h.tokens.next(q.clock); at.After(h.tokenAt) {
		h.tokenAt = at
	}
	if h.place < 0 {
		heap.Push(&q.starved, h)
	} else {
		heap.Fix(&q.starved, h.place)
	}
}

// refill wakes the hosts that have a token again.
func (q *Queue[T]) refill(now time.Time) {
	q.clock = now
	for len(q.starved) > 0 && !q.starved[0].tokenAt.After(now) {
		h := heap.Pop(&q.starved).(*host[T])
		q.wake(h)
	}
}

// orStarved is at, or when the first starved host has a token if that is earlier.
func (q *Queue[T]) orStarved(at time.Time) time.Time {
	if len(q.starved) == 0 {
		return at
	}
	return earlier(at, q.starved[0].tokenAt)
}

// earlier is the earlier of two times, of which zero is none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// hostHeap is hosts that wait for a token, the first one first.
type hostHeap[T any] []*host[T]

// Len implements heap.Interface.
func (s hostHeap[T]) Len() int { return len(s) }

// Less implements heap.Interface.
func (s hostHeap[T]) Less(i, j int) bool { return s[i].tokenAt.Before(s[j].tokenAt) }

// Swap implements heap.Interface.
func (s hostHeap[T]) Swap(i, j int) {
	s[i], s[j] = s[j], s[i]
	s[i].place, s[j].place = i, j
}

// Push implements heap.Interface.
func (s *hostHeap[T]) Push(x any) {
	h := x.(*host[T])
	h.place = len(*s)
	*s = append(*s, h)
}

// Pop implements heap.Interface.
func (s *hostHeap[T]) Pop() any {
	old := *s
	h := old[len(old)-1]
	old[len(old)-1] = nil
	*s, h.place = old[:len(old)-1], -1
	return h
}
