package upstream

import (
	"context"
	"time"
)

// Line is an upstream with its slots. One slot is one call at a time, and the
// goroutine that makes it; a row without one waits in the store.
type Line struct {
	of   Upstream
	desk *desk
	// batchMost is how many slots records of batches may have: half, so that single
	// requests always find some.
	batchMost int
	// kept is how many slots are for what waits in the store while single requests wait
	// there: those that come in must not starve it.
	kept  int
	wake  chan struct{} // holds one: its loop should look now
	freed chan struct{} // holds one: who waits for a slot should try again

	// Of the desk.
	busy, batches int
	hungry        [2]bool   // more is due than there was room for: single ones, and records of batches
	lastBatch     bool      // the last slot was taken by a record of a batch
	next          time.Time // when its loop looks next; zero while it looks, and after a look that failed
}

// Worth reports whether it is worth asking at the moment.
func (l *Line) Worth() (worth bool) {
	if l.of.Available == nil {
		return true
	}
	defer func() {
		if recover() != nil { // who cannot even say so is not
			worth = false
		}
	}()
	return l.of.Available()
}

// Nudge lets its loop look now.
func (l *Line) Nudge() {
	select {
	case l.wake <- struct{}{}:
	default: // it has been told
	}
}

// Take takes a slot; false when there is none, or the service stops. Who has one
// must give it back.
func (l *Line) Take(batch bool) bool {
	l.desk.Lock()
	defer l.desk.Unlock()
	if batch && l.hungry[1] || l.of.Concurrency-l.busy <= l.reserved() {
		return false // what has waited longer comes first
	}
	return l.grab(batch)
}

// reserved is how many slots are left to what waits in the store by what comes in: when
// nothing but records of batches does, the one that is owed to them. The caller holds
// the desk.
func (l *Line) reserved() int {
	switch {
	case l.hungry[0]:
		return l.kept
	case l.owed():
		return 1
	default:
		return 0
	}
}

// owed reports whether a slot is left to records of batches that wait in the store by
// single requests, those that wait there too among them: none of a batch is under way.
// An upstream with one slot gives it to the two kinds in turn. The caller holds the
// desk.
func (l *Line) owed() bool {
	return l.hungry[1] && l.batches == 0 && (l.of.Concurrency > 1 || !l.lastBatch)
}

// room is how many slots are free, and how many of these single requests and records
// of batches that wait in the store may have at most. The caller holds the desk.
func (l *Line) room() (free, singles, batches int) {
	free = l.of.Concurrency - l.busy
	singles = free
	if l.owed() {
		singles = max(0, free-1)
	}
	return free, singles, min(free, l.batchMost-l.batches)
}

// starved reports whether there is a slot for what waits in the store. The caller
// holds the desk.
func (l *Line) starved() bool {
	return l.busy < l.of.Concurrency && (l.hungry[0] || l.hungry[1] && l.batches < l.batchMost)
}

// TakeWithin is Take for a record of a batch that waits for a slot, so long at most: who
// has to be looked for in the store and leased costs more.
func (l *Line) TakeWithin(ctx context.Context, most time.Duration) bool {
	if l.Take(true) {
		return true
	}
	timer := time.NewTimer(most)
	defer timer.Stop()
	for {
		select {
		case <-l.freed:
		case <-timer.C:
			return l.Take(true)
		case <-ctx.Done():
			return false
		}
		if l.Take(true) {
			l.free() // there may be room for another, who was not told
			return true
		}
	}
}

// free tells one who waits for a slot to try again.
func (l *Line) free() {
	select {
	case l.freed <- struct{}{}:
	default: // somebody will
	}
}

// grab is Take for what has waited. The caller holds the desk.
func (l *Line) grab(batch bool) bool {
	if l.desk.stopped || l.busy >= l.of.Concurrency || batch && l.batches >= l.batchMost {
		return false
	}
	l.busy++
	if batch {
		l.batches++
	}
	l.lastBatch = batch
	l.desk.calls.Add(1)
	return true
}

// grabSome takes so many slots, or as many as there are. The caller holds the desk.
func (l *Line) grabSome(most int, batch bool) (n int) {
	for n < most && l.grab(batch) {
		n++
	}
	return n
}

// Give gives a slot back.
func (l *Line) Give(batch bool) {
	l.desk.Lock()
	l.busy--
	if batch {
		l.batches--
	}
	room, starved := l.batches < l.batchMost, l.starved()
	l.desk.Unlock()
	l.desk.calls.Done()
	switch {
	case starved:
		l.Nudge()
	case room:
		l.free()
	}
}

// Due tells its loop of something that is due at a time.
func (l *Line) Due(at time.Time) {
	l.desk.Lock()
	early := at.Before(l.next) || l.next.IsZero()
	l.desk.Unlock()
	if early {
		l.Nudge()
	}
}

// Slots is how the slots of a line stand.
type Slots struct {
	Busy, Batches int     // taken, and of these by records of batches
	Hungry        [2]bool // more is due than there was room for: single ones, and records of batches
}

// Slots is how its slots stand.
func (l *Line) Slots() Slots {
	l.desk.Lock()
	defer l.desk.Unlock()
	return Slots{l.busy, l.batches, l.hungry}
}

// Latest is when a call can begin under a lease at the latest.
func (l *Line) Latest(own Lease) time.Time {
	return own.Until.Add(-l.of.Timeout).UTC().Truncate(time.Microsecond)
}
