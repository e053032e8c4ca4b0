package batch

import (
	"cmp"
	"slices"
	"time"

	"vayu/pipeline/batch/body"
)

// accountQueue is the queue of one account's records of one kind.
type accountQueue struct {
	account     string
	ready       []chunkRecord // leased and queued
	inFlight    int           // records in flight
	chunks      int           // leased chunks
	mayHaveMore bool          // more chunks may be due
	lastStarted uint64        // sequence number of the last started record
	lastLeased  uint64        // value of processing.leases when chunks were last leased
	// failures is the number of failures since the last success, without those during a pause. Each failure makes
	// the next pause longer. While failures is not 0, the queue starts one record at a time.
	failures    int
	pausedUntil time.Time
}

// canStart reports whether a record of the queue can start. If a pause prevents the start, the returned time is the end
// of the pause; otherwise it is zero.
func (q *accountQueue) canStart(now time.Time) (bool, time.Time) {
	switch {
	case len(q.ready) == 0:
		return false, time.Time{}
	case q.failures == 0:
		return true, time.Time{}
	case q.inFlight > 0: // the result of the record in flight decides how to continue
		return false, time.Time{}
	case now.Before(q.pausedUntil):
		return false, q.pausedUntil
	}
	return true, time.Time{}
}

// scheduler limits the records in flight to maxInFlight slots. The next free slot goes to the
// account with the fewest records in flight. So a single account can use all slots. A second
// account then gets every slot that becomes free, until both have equally many.
type scheduler struct {
	maxInFlight int
	inFlight    int
	queues      map[string]*accountQueue
	sequence    uint64
}

func newScheduler(room int) *scheduler {
	return &scheduler{maxInFlight: room, queues: map[string]*accountQueue{}}
}

// queueOf returns the queue of an account. It creates the queue if necessary.
func (d *scheduler) queueOf(account string) *accountQueue {
	l := d.queues[account]
	if l == nil {
		l = &accountQueue{account: account}
		d.queues[account] = l
	}
	return l
}

// next selects the record that starts next, removes it from its queue, and counts it as in flight. `ok` is false if no
// record can start. Then `wake` is the end of the earliest pause; zero if no queue is paused or all slots are used.
func (d *scheduler) next(now time.Time) (r chunkRecord, ok bool, wake time.Time) {
	if d.inFlight >= d.maxInFlight {
		return chunkRecord{}, false, time.Time{}
	}
	var best *accountQueue
	for _, l := range d.queues {
		can, at := l.canStart(now)
		if !at.IsZero() && (wake.IsZero() || at.Before(wake)) {
			wake = at
		}
		if can && (best == nil || l.inFlight < best.inFlight || l.inFlight == best.inFlight && l.lastStarted < best.lastStarted) {
			best = l
		}
	}
	if best == nil {
		return chunkRecord{}, false, wake
	}
	d.sequence++
	best.lastStarted = d.sequence
	r, best.ready = best.ready[0], best.ready[1:]
	best.inFlight++
	d.inFlight++
	r.chunk.ready--
	r.chunk.inFlight++
	return r, true, time.Time{}
}

// end records that a record of a chunk is no longer in flight. If `done` is false, the record must be retried.
func (d *scheduler) end(c *chunk, done bool) {
	d.inFlight--
	c.inFlight--
	c.queue.inFlight--
	if done {
		c.done++
		c.queue.failures = 0
	} else {
		c.toRetry++
	}
}

// add appends the records of a chunk to the queue of the chunk's account.
func (d *scheduler) add(c *chunk, records []chunkRecord) {
	l := d.queueOf(c.owner.Account)
	c.queue, c.ready = l, len(records)
	l.chunks++
	l.ready = append(l.ready, records...)
}

// drop removes the queued records of a chunk from its queue.
func (d *scheduler) drop(c *chunk) {
	c.queue.ready = slices.DeleteFunc(c.queue.ready, func(r chunkRecord) bool { return r.chunk == c })
	c.ready = 0
}

// maxChunksPerLease limits how many chunks of one account a transaction leases.
const maxChunksPerLease = 8

// chunksToLease returns how many chunks to lease for each queue that has fewer queued records than its share of the
// slots. A queue with failures leases a single chunk, and only when it is empty. The result begins with the queues that
// have the fewest chunks and, among these, with the queue that leased least recently.
func (d *scheduler) chunksToLease() []leaseRequest {
	active := 0
	var waiting []*accountQueue
	for _, l := range d.queues {
		if l.mayHaveMore || len(l.ready)+l.inFlight > 0 {
			active++
		}
	}
	share := (d.maxInFlight + max(active, 1) - 1) / max(active, 1)
	for _, l := range d.queues {
		if l.mayHaveMore && len(l.ready) < share && (l.failures == 0 || len(l.ready) == 0) {
			waiting = append(waiting, l)
		}
	}
	slices.SortFunc(waiting, func(a, b *accountQueue) int {
		return cmp.Or(cmp.Compare(a.chunks, b.chunks), cmp.Compare(a.lastLeased, b.lastLeased))
	})
	all := make([]leaseRequest, len(waiting))
	for i, l := range waiting {
		missing := min((share-len(l.ready)+body.ChunkRecords-1)/body.ChunkRecords, maxChunksPerLease)
		if l.failures > 0 {
			missing = 1
		}
		all[i] = leaseRequest{l.account, missing}
	}
	return all
}

// removeIdle removes queues that have neither known due chunks, nor leased chunks, nor records in flight.
func (d *scheduler) removeIdle() {
	for account, l := range d.queues {
		if !l.mayHaveMore && l.chunks == 0 && l.inFlight == 0 {
			delete(d.queues, account)
		}
	}
}
