package batch

import (
	"context"
	"fmt"
	"log/slog"

	"vayu/internal/failpoint"
	"vayu/internal/sleep"
	"vayu/internal/sqlstore"
	"vayu/internal/workqueue"
)

// poll finds the accounts that have chunks, and sets mayHaveMore in the queues of these accounts.
func (p *processing) poll() {
	accounts, err := accountsOf(p.DB.View(p.ctx), p.kind.Name)
	p.storeFailures.Observe(p.ctx, err)
	p.locked(func() {
		for _, id := range accounts {
			p.scheduler.queueOf(id).mayHaveMore = true
		}
	})
}

// leaseChunks leases chunks for queues that have fewer queued records than their share of the slots, up to maxBytes in
// memory. If the store fails, it sleeps for a poll interval, and leaseLoop calls it again later.
func (p *processing) leaseChunks() {
	var wants []leaseRequest
	free := 0
	p.locked(func() {
		if free = maxBytes - p.bytes; free > 0 {
			wants = p.scheduler.chunksToLease()
		}
	})
	if len(wants) == 0 {
		return
	}
	var all []*chunk
	var whole bool
	err := p.DB.Update(p.ctx, func(tx *sqlstore.Tx) (err error) {
		now := p.Now()
		all, whole, err = claim(tx, now, p.kind.Name, wants, p.tokens.Lease(now.Add(p.timing.lease)), free)
		return err
	})
	p.storeFailures.Observe(p.ctx, err)
	if err != nil {
		sleep.For(p.ctx, p.timing.pollInterval)
		return
	}
	if len(all) > 0 {
		failpoint.Point(failpoint.BatchClaimed)
	}
	got := map[string]int{}
	p.leases++
	for _, c := range all {
		got[c.owner.Account]++
		p.add(c)
	}
	p.locked(func() {
		for _, n := range wants {
			if whole && got[n.account] < n.maxChunks {
				p.scheduler.queueOf(n.account).mayHaveMore = false
			}
		}
		p.scheduler.removeIdle()
	})
}

// add adds the records of a leased chunk to the queue of their account. If the records are unreadable, the chunk is
// retried until its data is repaired. Duplicates (records with the ref_id of an earlier record) are not queued, but
// rejected in one transaction.
func (p *processing) add(c *chunk) {
	todo, duplicates, err := c.decrypted(p.Cipher)
	if err != nil {
		p.metrics.failures.Inc()
		p.Log.ErrorContext(p.ctx, "records of a batch cannot be read", slog.Any("error", err))
	}
	if len(duplicates) > 0 {
		err := p.refuseDuplicates(p.ctx, c, duplicates)
		p.storeFailures.Observe(p.ctx, err)
		if c.done = len(duplicates); err != nil {
			c.done, c.toRetry = 0, c.done
		}
		p.metrics.done.Add(float64(c.done))
		p.metrics.retried.Add(float64(c.toRetry))
	}
	p.metrics.skipped.Add(float64(len(c.begun)))
	p.locked(func() {
		p.leased[c] = true
		p.bytes += c.size
		p.scheduler.add(c, todo)
		c.queue.lastLeased = p.leases
		p.start()
		p.releaseIfDone(c)
	})
}

// releaseIfDone releases a chunk if none of its records are queued or in flight. The caller holds the lock.
func (p *processing) releaseIfDone(c *chunk) {
	if p.leased[c] && c.ready == 0 && c.inFlight == 0 && !c.releasing {
		c.releasing = true
		p.running.Go(func() { p.release(c) })
	}
}

// release ends the lease of a chunk, unless the lease is lost, and removes the chunk from memory. If the store fails,
// it retries. If the worker stops before a retry succeeds, the lease expires later.
func (p *processing) release(c *chunk) {
	left := true // the chunk still has records
	for !c.lost {
		limit, cancel := context.WithTimeout(context.WithoutCancel(p.ctx), p.timing.releaseTimeout)
		done, err := p.deleteOrRelease(limit, c)
		cancel()
		p.storeFailures.Observe(p.ctx, err)
		if err == nil {
			left = !done
			break
		}
		if !sleep.For(p.ctx, p.timing.pollInterval) {
			break
		}
	}
	p.locked(func() {
		c.queue.mayHaveMore = c.queue.mayHaveMore || left
		delete(p.leased, c)
		p.bytes -= c.size
		c.queue.chunks--
		p.scheduler.removeIdle()
	})
	p.refill.send()
}

// deleteOrRelease deletes a chunk if the table batch_item has all of the chunk's records, and then returns true.
// Otherwise it releases the lease of the chunk.
func (p *processing) deleteOrRelease(ctx context.Context, c *chunk) (done bool, err error) {
	whole := len(c.begun)+c.done == c.count
	if whole {
		failpoint.Point(failpoint.BatchDone)
	}
	err = p.DB.Update(ctx, func(tx *sqlstore.Tx) error {
		done = false
		if whole {
			if done, err = c.finish(tx); done || err != nil {
				return err
			}
		}
		due, tries := p.Now(), c.tries
		switch {
		case c.done > 0 && !whole:
			tries = 0
			if c.toRetry > 0 {
				due = due.Add(p.backoff(0))
			}
		case p.ctx.Err() == nil || c.toRetry > 0:
			due = due.Add(p.backoff(tries))
			tries++
		}
		return c.release(tx, due, tries)
	})
	if err == nil && whole && !done {
		p.metrics.failures.Inc()
		p.Log.ErrorContext(ctx, "records of a batch were done but have no item; they are retried",
			slog.String("batch", c.batch), slog.Int("first", c.first))
	}
	return done, err
}

const countChunks = "SELECT COUNT(*) FROM batch_chunk WHERE kind = $1"

// renew renews the leases. It drops chunks that another instance has leased meanwhile, for example
// while this process was suspended. It also updates the metric of waiting chunks.
func (p *processing) renew(ctx context.Context) {
	var all, lost []workqueue.Leased
	byKey := map[string]*chunk{}
	p.locked(func() {
		for c := range p.leased {
			if !c.releasing {
				all = append(all, workqueue.Leased{Key: c.primaryKey(), Token: c.token})
				byKey[c.token+fmt.Sprint(c.primaryKey()...)] = c
			}
		}
	})
	var waiting float64
	err := p.DB.View(ctx).QueryRow(countChunks, p.kind.Name).Scan(&waiting)
	if err == nil && len(all) > 0 {
		err = p.DB.Update(ctx, func(tx *sqlstore.Tx) (err error) {
			lost, err = leases.Renew(tx, p.Now().Add(p.timing.lease), all)
			return err
		})
	}
	p.storeFailures.Observe(ctx, err)
	if err != nil {
		return
	}
	p.metrics.waiting.Set(waiting)
	p.locked(func() {
		for _, l := range lost {
			p.dropLost(byKey[l.Token+fmt.Sprint(l.Key...)])
		}
	})
}

// dropLost drops a chunk that another instance has leased, unless this worker is releasing it. The caller holds
// the lock.
func (p *processing) dropLost(c *chunk) {
	if c.releasing || c.lost {
		return
	}
	c.lost = true
	p.metrics.failures.Inc()
	p.Log.WarnContext(p.ctx, "another instance leased records after their lease had expired", slog.String("batch", c.batch), slog.Int("first", c.first))
	p.scheduler.drop(c)
	p.releaseIfDone(c)
}
