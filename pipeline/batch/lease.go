package batch

import (
	"context"
	"log/slog"
	"strconv"

	"vayu/internal/failpoint"
	"vayu/internal/sqlstore"
)

// bytesMost bounds the records in memory: enough for a chunk of each of 500
// accounts.
const bytesMost = 32 << 20

// look finds out who has something to lease.
func (w *worker) look(ctx context.Context) {
	if !w.once("look", func() func() {
		accounts, err := accountsOf(w.DB.View(ctx), w.kind.Name)
		w.store.Tell(ctx, err)
		return func() {
			for _, id := range accounts {
				w.desk.lane(id).more = true
			}
			if w.lookSoon && !w.stopping {
				w.lookSoon = false
				w.look(ctx)
			}
		}
	}) {
		w.lookSoon = true // this one may have looked before there was something
	}
}

// refill leases what there is room for.
func (w *worker) refill(ctx context.Context) {
	if w.away || w.busy["lease"] || w.bytes >= bytesMost {
		return
	}
	wants := w.desk.wants()
	if len(wants) == 0 {
		return
	}
	w.leases++
	l := lease{kind: w.kind.Name, token: w.name + "/" + strconv.FormatUint(w.leases, 10), room: bytesMost - w.bytes}
	w.once("lease", func() func() {
		var all []*chunk
		var whole bool
		err := w.DB.Update(ctx, func(tx *sqlstore.Tx) (err error) {
			now := w.Now()
			l.until = now.Add(w.pace.lease)
			all, whole, err = claim(tx, now, wants, l)
			return err
		})
		w.store.Tell(ctx, err)
		if err != nil {
			return func() { w.away = true }
		}
		if len(all) > 0 {
			failpoint.Point(failpoint.BatchClaimed)
		}
		opened := make([]openedChunk, len(all))
		for i, c := range all {
			opened[i] = w.read(ctx, c)
		}
		return func() { w.leased(ctx, wants, opened, whole) }
	})
}

// openedChunk is a leased chunk with what is left to do of it.
type openedChunk struct {
	*chunk

	todo       []record
	duplicates int   // records that were refused under this lease
	err        error // why they could not be refused
}

// read is the records of a chunk. One that cannot be read, which has been tampered
// with, has none, and comes again for as long as nobody repairs it. Its duplicates are
// refused here, in one change: they are neither work of the kind nor worth a change each.
func (w *worker) read(ctx context.Context, c *chunk) openedChunk {
	var duplicates []duplicateRecord
	o := openedChunk{chunk: c}
	err := c.open(w.Box)
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
		w.store.Tell(ctx, o.err)
	}
	return o
}

// leased takes the chunks that were leased for wants.
func (w *worker) leased(ctx context.Context, wants []want, all []openedChunk, whole bool) {
	got := map[string]int{}
	for _, o := range all {
		c := o.chunk
		got[c.owner.Account]++
		w.held[c] = true
		w.bytes += c.size
		w.metrics.passed.Add(float64(len(c.begun)))
		w.desk.add(c, o.todo)
		c.lane.leased = w.leases
		if o.err == nil {
			c.done += o.duplicates
			w.metrics.done.Add(float64(o.duplicates))
		} else {
			c.again += o.duplicates
			w.metrics.again.Add(float64(o.duplicates))
		}
		if w.stopping {
			w.desk.drop(c)
		}
		w.settle(context.WithoutCancel(ctx), c)
	}
	for _, n := range wants {
		if whole && got[n.account] < n.most {
			w.desk.lane(n.account).more = false
		}
	}
	w.desk.tidy()
}

// settleAll tries again what could not be settled.
func (w *worker) settleAll(ctx context.Context) {
	for c := range w.held {
		w.settle(ctx, c)
	}
}

// settle ends the lease of a chunk with which nothing is to be done here any more:
// the chunk is deleted, or comes again.
func (w *worker) settle(ctx context.Context, c *chunk) {
	if c.ready > 0 || c.under > 0 || c.settling {
		return
	}
	if c.lost {
		w.forget(c)
		return
	}
	c.settling = true
	stopping := w.stopping
	w.job(func() func() {
		limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), w.pace.leave)
		defer cancel()
		done, err := w.end(limit, c, stopping)
		w.store.Tell(ctx, err)
		return func() {
			c.settling = false
			if err == nil {
				c.lane.more = c.lane.more || !done
				w.forget(c)
			}
		}
	})
}

// end deletes a chunk whose records all have their item, and gives every other back.
func (w *worker) end(ctx context.Context, c *chunk, stopping bool) (done bool, err error) {
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
			if c.again > 0 {
				due = due.Add(w.backoff(0))
			}
		case !stopping || c.again > 0:
			due = due.Add(w.backoff(tries))
			tries++
		}
		return c.release(tx, due, tries)
	})
	if err == nil && whole && !done {
		w.metrics.failures.Inc()
		w.Log.ErrorContext(ctx, "records of a batch were done and have no item; they come again",
			slog.String("batch", c.batch), slog.Int("first", c.first))
	}
	return done, err
}

// forget drops a chunk whose lease has ended.
func (w *worker) forget(c *chunk) {
	delete(w.held, c)
	w.bytes -= c.size
	c.lane.chunks--
	w.desk.tidy()
}

const countChunks = "SELECT COUNT(*) FROM batch_chunk WHERE kind = $1"

// renew keeps the leases, and lets go of chunks that another has: it was frozen for
// longer than they last. Beside that it counts what waits.
func (w *worker) renew(ctx context.Context) {
	var all []*chunk
	for c := range w.held {
		if !c.settling && !c.lost {
			all = append(all, c)
		}
	}
	w.once("renew", func() func() {
		var waiting float64
		var lost []*chunk
		err := w.DB.View(ctx).QueryRow(countChunks, w.kind.Name).Scan(&waiting)
		if err == nil && len(all) > 0 {
			err = w.DB.Update(ctx, func(tx *sqlstore.Tx) (err error) {
				lost, err = renew(tx, all, w.Now().Add(w.pace.lease))
				return err
			})
		}
		w.store.Tell(ctx, err)
		return func() {
			if err == nil {
				w.metrics.waiting.Set(waiting)
			}
			for _, c := range lost {
				w.lose(ctx, c)
			}
		}
	})
}

// lose lets go of a chunk, unless it has ended meanwhile.
func (w *worker) lose(ctx context.Context, c *chunk) {
	if !w.held[c] || c.settling {
		return
	}
	c.lost = true
	w.metrics.failures.Inc()
	w.Log.WarnContext(ctx, "another instance has taken records whose lease had run out", slog.String("batch", c.batch), slog.Int("first", c.first))
	w.desk.drop(c)
	w.settle(ctx, c)
}
