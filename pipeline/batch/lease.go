package batch

import (
	"context"
	"fmt"
	"log/slog"

	"vayu/internal/failpoint"
	"vayu/internal/sqlstore"
	"vayu/internal/workqueue"
)

// maxBytes limits the leased records in memory: enough for a chunk of each of 500 accounts.
const maxBytes = 32 << 20

// poll finds the accounts that have chunks. It notes in their lanes that chunks may be due.
func (w *worker) poll(ctx context.Context) {
	if !w.jobOnce("look", func() func() {
		accounts, err := accountsOf(w.DB.View(ctx), w.kind.Name)
		w.storeFailures.Observe(ctx, err)
		return func() {
			for _, id := range accounts {
				w.scheduler.lane(id).mayHaveMore = true
			}
			if w.pollAgain && !w.stopping {
				w.pollAgain = false
				w.poll(ctx)
			}
		}
	}) {
		w.pollAgain = true // the running poll may have missed the newest chunks
	}
}

// leaseChunks leases chunks for lanes that have fewer queued records than their share of the slots.
func (w *worker) leaseChunks(ctx context.Context) {
	if w.leasingPaused || w.busy["lease"] || w.bytes >= maxBytes {
		return
	}
	wants := w.scheduler.chunksToLease()
	if len(wants) == 0 {
		return
	}
	w.leases++
	free := maxBytes - w.bytes
	w.jobOnce("lease", func() func() {
		var all []*chunk
		var whole bool
		err := w.DB.Update(ctx, func(tx *sqlstore.Tx) (err error) {
			now := w.Now()
			all, whole, err = claim(tx, now, w.kind.Name, wants, w.tokens.Lease(now.Add(w.timing.lease)), free)
			return err
		})
		w.storeFailures.Observe(ctx, err)
		if err != nil {
			return func() { w.leasingPaused = true }
		}
		if len(all) > 0 {
			failpoint.Point(failpoint.BatchClaimed)
		}
		opened := make([]openedChunk, len(all))
		for i, c := range all {
			opened[i] = w.read(ctx, c)
		}
		return func() { w.addLeased(ctx, wants, opened, whole) }
	})
}

// openedChunk is a leased chunk whose records are decrypted.
type openedChunk struct {
	*chunk

	todo       []record
	duplicates int   // number of records to reject as duplicates
	err        error // error of rejecting the duplicates
}

// read decrypts the records of a chunk. If they are unreadable, the result has no records, and the
// chunk is retried until its data is repaired. read rejects all duplicates (records with the ref_id
// of an earlier record) in one transaction, without calling [item.Kind.Do].
func (w *worker) read(ctx context.Context, c *chunk) openedChunk {
	var duplicates []duplicateRecord
	o := openedChunk{chunk: c}
	err := c.decrypt(w.Box)
	if err == nil {
		o.todo, duplicates, err = c.records()
	}
	if err != nil {
		w.metrics.failures.Inc()
		w.Log.ErrorContext(ctx, "records of a batch cannot be read", slog.Any("error", err))
		return o
	}
	if o.duplicates = len(duplicates); o.duplicates > 0 {
		o.err = w.refuseDuplicates(ctx, c, duplicates)
		w.storeFailures.Observe(ctx, o.err)
	}
	return o
}

// addLeased adds leased chunks and their records to the scheduler.
func (w *worker) addLeased(ctx context.Context, wants []leaseRequest, all []openedChunk, whole bool) {
	got := map[string]int{}
	for _, o := range all {
		c := o.chunk
		got[c.owner.Account]++
		w.leasedChunks[c] = true
		w.bytes += c.size
		w.metrics.skipped.Add(float64(len(c.begun)))
		w.scheduler.add(c, o.todo)
		c.lane.lastLeased = w.leases
		if o.err == nil {
			c.done += o.duplicates
			w.metrics.done.Add(float64(o.duplicates))
		} else {
			c.toRetry += o.duplicates
			w.metrics.retried.Add(float64(o.duplicates))
		}
		if w.stopping {
			w.scheduler.drop(c)
		}
		w.releaseIfDone(context.WithoutCancel(ctx), c)
	}
	for _, n := range wants {
		if whole && got[n.account] < n.maxChunks {
			w.scheduler.lane(n.account).mayHaveMore = false
		}
	}
	w.scheduler.removeIdle()
}

// releaseAll calls releaseIfDone for all leased chunks. It also retries releases that failed.
func (w *worker) releaseAll(ctx context.Context) {
	for c := range w.leasedChunks {
		w.releaseIfDone(ctx, c)
	}
}

// releaseIfDone drops a chunk if this worker has none of its records queued or in flight. Unless
// the lease is lost, it first deletes the chunk if all records are done, or else releases the
// chunk.
func (w *worker) releaseIfDone(ctx context.Context, c *chunk) {
	if c.ready > 0 || c.inFlight > 0 || c.releasing {
		return
	}
	if c.lost {
		w.dropChunk(c)
		return
	}
	c.releasing = true
	stopping := w.stopping
	w.job(func() func() {
		limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), w.timing.releaseTimeout)
		defer cancel()
		done, err := w.deleteOrRelease(limit, c, stopping)
		w.storeFailures.Observe(ctx, err)
		return func() {
			c.releasing = false
			if err == nil {
				c.lane.mayHaveMore = c.lane.mayHaveMore || !done
				w.dropChunk(c)
			}
		}
	})
}

// deleteOrRelease deletes a chunk if its records are all in the table batch_item; then done is
// true. Otherwise it releases the lease of the chunk.
func (w *worker) deleteOrRelease(ctx context.Context, c *chunk, stopping bool) (done bool, err error) {
	whole := len(c.begun)+c.done == c.count
	if whole {
		failpoint.Point(failpoint.BatchDone)
	}
	err = w.DB.Update(ctx, func(tx *sqlstore.Tx) error {
		done = false
		if whole {
			if done, err = c.finish(tx); done || err != nil {
				return err
			}
		}
		due, tries := w.Now(), c.tries
		switch {
		case c.done > 0 && !whole:
			tries = 0
			if c.toRetry > 0 {
				due = due.Add(w.backoff(0))
			}
		case !stopping || c.toRetry > 0:
			due = due.Add(w.backoff(tries))
			tries++
		}
		return c.release(tx, due, tries)
	})
	if err == nil && whole && !done {
		w.metrics.failures.Inc()
		w.Log.ErrorContext(ctx, "records of a batch were done but have no item; they are retried",
			slog.String("batch", c.batch), slog.Int("first", c.first))
	}
	return done, err
}

// dropChunk removes a chunk whose lease has ended from this worker.
func (w *worker) dropChunk(c *chunk) {
	delete(w.leasedChunks, c)
	w.bytes -= c.size
	c.lane.chunks--
	w.scheduler.removeIdle()
}

const countChunks = "SELECT COUNT(*) FROM batch_chunk WHERE kind = $1"

// renew renews the leases. It drops chunks that another instance has leased meanwhile, for example
// while this process was suspended. It also updates the metric of waiting chunks.
func (w *worker) renew(ctx context.Context) {
	var all, lost []workqueue.Leased
	byKey := map[string]*chunk{}
	for c := range w.leasedChunks {
		if !c.releasing && !c.lost {
			all = append(all, workqueue.Leased{Key: c.primaryKey(), Token: c.token})
			byKey[c.token+fmt.Sprint(c.primaryKey()...)] = c
		}
	}
	w.jobOnce("renew", func() func() {
		var waiting float64
		err := w.DB.View(ctx).QueryRow(countChunks, w.kind.Name).Scan(&waiting)
		if err == nil && len(all) > 0 {
			err = w.DB.Update(ctx, func(tx *sqlstore.Tx) (err error) {
				lost, err = leases.Renew(tx, w.Now().Add(w.timing.lease), all)
				return err
			})
		}
		w.storeFailures.Observe(ctx, err)
		return func() {
			if err == nil {
				w.metrics.waiting.Set(waiting)
			}
			for _, l := range lost {
				w.dropLost(ctx, byKey[l.Token+fmt.Sprint(l.Key...)])
			}
		}
	})
}

// dropLost drops a chunk that another instance has leased, unless this worker is releasing it.
func (w *worker) dropLost(ctx context.Context, c *chunk) {
	if !w.leasedChunks[c] || c.releasing {
		return
	}
	c.lost = true
	w.metrics.failures.Inc()
	w.Log.WarnContext(ctx, "another instance leased records after their lease had expired", slog.String("batch", c.batch), slog.Int("first", c.first))
	w.scheduler.drop(c)
	w.releaseIfDone(ctx, c)
}
