package workqueue

import (
	"context"
	"time"
)

// Pool limits the concurrent calls to one provider. Each call, and the goroutine that makes it, occupies one slot. A
// job without a slot waits in the store.
type Pool struct {
	provider Provider
	state    *poolState
	// maxBatch is the maximum number of slots for batch items: half of all slots, but at least one.
	maxBatch int
	// reservedSlots is the number of slots that new requests leave free for queued single requests.
	reservedSlots int
	wake          chan struct{} // capacity one: wakes the loop
	freed         chan struct{} // capacity one: wakes a goroutine in AcquireWithin

	// The mutex of state guards the fields below.
	inFlight, batchInFlight int
	backlogged              [2]bool   // whether due rows wait for a slot: single requests, batch items
	lastBatch               bool      // the last slot was acquired by a batch item
	nextPoll                time.Time // time of the next poll; zero during a poll, and after a failed one
}

// Wake makes the loop poll for due rows at once. If the last poll failed, the loop polls at the end of RetryPause.
func (p *Pool) Wake() {
	select {
	case p.wake <- struct{}{}:
	default: // a wake-up is pending
	}
}

// TryAcquire acquires a slot for a new single request or batch item. It returns false if no slot is free, if queued
// jobs need the slots, or if the service stops. Batch items get at most maxBatch slots. The caller must release a slot.
func (p *Pool) TryAcquire(batch bool) bool {
	p.state.Lock()
	defer p.state.Unlock()
	if batch && p.backlogged[1] || p.provider.Concurrency-p.inFlight <= p.reserved() {
		return false // queued jobs come first
	}
	return p.acquireLocked(batch)
}

// reserved returns the number of slots that new requests must leave free for queued jobs. It
// is at most one if only batch items are queued. The caller holds the lock of state.
func (p *Pool) reserved() int {
	switch {
	case p.backlogged[0]:
		return p.reservedSlots
	case p.batchSlotReserved():
		return 1
	default:
		return 0
	}
}

// batchSlotReserved reports whether one slot is reserved for batch items. A slot is reserved if
// batch items are queued and none is in flight. A provider with a single slot alternates between
// single requests and batch items. The caller holds the lock of state.
func (p *Pool) batchSlotReserved() bool {
	return p.backlogged[1] && p.batchInFlight == 0 && (p.provider.Concurrency > 1 || !p.lastBatch)
}

// freeSlots returns the number of free slots. At most `singles` of them can go to queued single requests, and at most
// `batches` to queued batch items. The caller holds the lock of state.
func (p *Pool) freeSlots() (free, singles, batches int) {
	free = p.provider.Concurrency - p.inFlight
	singles = free
	if p.batchSlotReserved() {
		singles = max(0, free-1)
	}
	return free, singles, min(free, p.maxBatch-p.batchInFlight)
}

// hasCapacityForBacklog reports whether a due job is in the store, and a slot is free for it. state must be locked.
func (p *Pool) hasCapacityForBacklog() bool {
	return p.inFlight < p.provider.Concurrency && (p.backlogged[0] || p.backlogged[1] && p.batchInFlight < p.maxBatch)
}

// AcquireWithin waits for a slot for a batch item, at most for `timeout`. It returns false if it gets no slot. This
// wait costs less than a later claim of the item from the store.
func (p *Pool) AcquireWithin(ctx context.Context, timeout time.Duration) bool {
	if p.TryAcquire(true) {
		return true
	}
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	for {
		select {
		case <-p.freed:
		case <-timer.C:
			return p.TryAcquire(true)
		case <-ctx.Done():
			return false
		}
		if p.TryAcquire(true) {
			p.notifyWaiter() // another slot may be free
			return true
		}
	}
}

// notifyWaiter wakes one goroutine in AcquireWithin.
func (p *Pool) notifyWaiter() {
	select {
	case p.freed <- struct{}{}:
	default: // a wake-up is pending
	}
}

// acquireLocked acquires a slot, without regard to reserved slots. It returns false if no slot
// is free or the service stops. The caller holds the lock of state.
func (p *Pool) acquireLocked(batch bool) bool {
	if p.state.stopped || p.inFlight >= p.provider.Concurrency || batch && p.batchInFlight >= p.maxBatch {
		return false
	}
	p.inFlight++
	if batch {
		p.batchInFlight++
	}
	p.lastBatch = batch
	p.state.calls.Add(1)
	return true
}

// acquireUpTo acquires as many slots as are free, but not more than `most`, and returns their number. The caller holds
// the lock of state.
func (p *Pool) acquireUpTo(most int, batch bool) (n int) {
	for n < most && p.acquireLocked(batch) {
		n++
	}
	return n
}

// Release releases a slot. If a queued job can use it, Release wakes the loop, otherwise a goroutine in AcquireWithin.
func (p *Pool) Release(batch bool) {
	p.state.Lock()
	p.inFlight--
	if batch {
		p.batchInFlight--
	}
	batchRoom, backlogRoom := p.batchInFlight < p.maxBatch, p.hasCapacityForBacklog()
	p.state.Unlock()
	p.state.calls.Done()
	switch {
	case backlogRoom:
		p.Wake()
	case batchRoom:
		p.notifyWaiter()
	}
}

// WakeAt ensures that the loop polls by the time `at`, when a row becomes due. It makes the loop poll now if the next
// poll is later than `at`, or if the time of the next poll is unknown.
func (p *Pool) WakeAt(at time.Time) {
	p.state.Lock()
	early := at.Before(p.nextPoll) || p.nextPoll.IsZero()
	p.state.Unlock()
	if early {
		p.Wake()
	}
}

// Slots shows how a pool's slots are used.
type Slots struct {
	InFlight, BatchInFlight int     // all acquired slots, and the batch items among them
	Backlogged              [2]bool // whether due rows wait for a slot: single requests, batch items
}

// Slots returns the current use of the pool's slots, for tests.
func (p *Pool) Slots() Slots {
	p.state.Lock()
	defer p.state.Unlock()
	return Slots{p.inFlight, p.batchInFlight, p.backlogged}
}
