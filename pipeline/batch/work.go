package batch

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"vayu/internal/failpoint"
	"vayu/internal/failurelog"
	"vayu/internal/panics"
	"vayu/internal/sleep"
	"vayu/internal/sqlstore"
	"vayu/internal/workqueue"
	"vayu/pipeline/batch/item"
)

// timing has the intervals and timeouts of a worker.
type timing struct {
	// pollInterval is the time between two polls. A poll finds chunks that other instances have
	// accepted, and chunks that are due again.
	pollInterval time.Duration
	// lease is the duration of a lease. The chunks of a killed instance stay leased that long. A
	// lease is renewed after a third of its duration.
	lease time.Duration
	// minBackoff is the pause of a queue or chunk after its first failure. Each further failure
	// doubles the pause, up to maxBackoff.
	minBackoff, maxBackoff time.Duration
	// grace is how long records in flight may take to finish when the instance stops.
	// releaseTimeout limits the release of a lease.
	grace, releaseTimeout time.Duration
	// recordTimeout limits one call of [item.Kind.Do]. It is twice the 30 s timeout of a bank.
	recordTimeout time.Duration
	// purgeInterval is the time between two polls for expired results. Results are deleted purgeDelay after they
	// expire. The delay covers clock skew, and lets replies that read the results finish.
	purgeInterval, purgeDelay time.Duration
}

// defaultTiming lets a worker stop within 15 s, the time that the dispatcher of webhooks also needs at most.
var defaultTiming = timing{
	pollInterval: time.Second, lease: time.Minute, minBackoff: 100 * time.Millisecond, maxBackoff: 30 * time.Second,
	grace: 8 * time.Second, releaseTimeout: 3 * time.Second, recordTimeout: time.Minute, purgeInterval: time.Minute, purgeDelay: time.Hour,
}

// worker accepts and shows the batches of one kind, and processes them while run is active.
type worker struct {
	*Service

	kind          *item.Kind
	metrics       metrics
	timing        timing
	storeFailures *failurelog.Log
	accepted      signal // a batch was accepted
}

func newWorker(s *Service, kind *item.Kind, m metrics) *worker {
	return &worker{
		Service: s, kind: kind, metrics: m, timing: defaultTiming, accepted: make(signal, 1),
		storeFailures: failurelog.New(s.Log, "batches of "+kind.Name+": the state store", "working on batches", "batches stay queued", m.failures),
	}
}

// signal is a channel that wakes a loop. Its capacity is 1.
type signal chan struct{}

func (s signal) send() {
	select {
	case s <- struct{}{}:
	default: // a signal is pending
	}
}

// maxBytes limits the leased records in memory: enough for a chunk of each of 500 accounts.
const maxBytes = 32 << 20

// processing is the state of a worker that processes batches.
type processing struct {
	*worker

	ctx     context.Context // ends when the worker stops
	records context.Context // context of records in flight; ends a grace period later
	tokens  *workqueue.Tokens
	refill  signal         // a queue may need chunks
	running sync.WaitGroup // records in flight, and releases of chunks

	mu        sync.Mutex // guards the rest, and the chunks
	scheduler *scheduler
	leased    map[*chunk]bool
	bytes     int         // size of the records of leased chunks
	leases    uint64      // number of claims
	resume    *time.Timer // fires when the pause of a queue ends
}

// run processes batches until ctx ends. Then it releases the chunks without records in flight, and waits for the
// other chunks. After the grace period it cancels the records in flight.
func (w *worker) run(ctx context.Context) {
	if !w.expireLeases(ctx) {
		return
	}
	p := &processing{
		worker: w, ctx: ctx, tokens: workqueue.NewTokens(), refill: make(signal, 1), scheduler: newScheduler(w.kind.Concurrency), leased: map[*chunk]bool{},
	}
	var giveUp func()
	p.records, giveUp = context.WithCancel(context.WithoutCancel(ctx))
	defer giveUp()
	p.resume = time.AfterFunc(time.Hour, func() { p.locked(p.start) })
	defer p.resume.Stop()
	var loops sync.WaitGroup
	loops.Go(p.leaseLoop)
	loops.Go(func() { sleep.Repeat(ctx, w.timing.lease/3, p.renew) })
	loops.Go(func() { sleep.Repeat(ctx, w.timing.purgeInterval, w.purge) })
	<-ctx.Done()
	grace := time.AfterFunc(w.timing.grace, giveUp)
	defer grace.Stop()
	loops.Wait()
	p.locked(func() {
		for c := range p.leased {
			p.scheduler.drop(c)
			p.releaseIfDone(c)
		}
	})
	p.running.Wait()
}

// expireLeases ends all leases on SQLite. A SQLite store has one process, so these leases are those of a killed
// process. On PostgreSQL leases expire by themselves. expireLeases returns false if ctx has ended.
func (w *worker) expireLeases(ctx context.Context) bool {
	if w.DB.Name() != "sqlite" {
		return true
	}
	for {
		err := w.DB.Update(ctx, func(tx *sqlstore.Tx) error {
			_, err := tx.Exec(expireLeasesQuery, w.kind.Name, w.Now().UnixMicro())
			return err
		})
		w.storeFailures.Observe(ctx, err)
		if err == nil || !sleep.For(ctx, w.timing.pollInterval) {
			return err == nil
		}
	}
}

// locked calls `do` while it holds p.mu.
func (p *processing) locked(do func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	do()
}

// leaseLoop leases chunks until the worker stops.
func (p *processing) leaseLoop() {
	tick := time.NewTicker(p.timing.pollInterval)
	defer tick.Stop()
	p.poll()
	for {
		p.leaseChunks()
		select {
		case <-p.ctx.Done():
			return
		case <-p.refill:
		case <-p.accepted:
			p.poll()
		case <-tick.C:
			p.poll()
		}
	}
}

// start begins to process records while slots are free, unless the worker stops. The caller holds p.mu.
func (p *processing) start() {
	for p.ctx.Err() == nil {
		now := p.Now()
		r, ok, wake := p.scheduler.next(now)
		if !ok {
			if !wake.IsZero() {
				p.resume.Reset(wake.Sub(now))
			}
			return
		}
		p.running.Go(func() { p.process(r) })
		if r.chunk.queue.mayHaveMore {
			p.refill.send()
		}
	}
}

// process processes a record. If Do fails or panics, the record is retried under a later lease of its chunk.
func (p *processing) process(r chunkRecord) {
	p.metrics.inFlight.Inc()
	defer p.metrics.inFlight.Dec()
	of := r.item()
	limit, cancel := context.WithTimeout(sqlstore.WithWorld(p.records, of.Owner.World), p.timing.recordTimeout)
	defer cancel()
	err := panics.Catch(func() error { return p.kind.Do(limit, of) })
	if panicked, ok := errors.AsType[*panics.Error](err); ok {
		p.Log.ErrorContext(limit, "panic", "batch", of.Batch, "index", of.Index, "panic", panicked)
	}
	failpoint.Point(failpoint.BatchBegun)
	p.locked(func() {
		if p.scheduler.end(r.chunk, err == nil); err == nil {
			p.metrics.done.Inc()
		} else {
			p.metrics.retried.Inc()
			p.pauseQueue(r.chunk.queue, err)
		}
		p.start()
		p.releaseIfDone(r.chunk)
	})
}

// pauseQueue pauses the queue of an account after a failure. It does nothing if the queue is paused already.
func (p *processing) pauseQueue(l *accountQueue, err error) {
	now := p.Now()
	if now.Before(l.pausedUntil) {
		return
	}
	if l.failures == 0 {
		p.Log.WarnContext(p.ctx, "records of batches cannot begin; they are retried",
			slog.String("kind", p.kind.Name), slog.String("account", l.account), slog.Any("error", err))
	}
	l.pausedUntil = now.Add(p.backoff(l.failures))
	l.failures++
}

// backoff returns the length of the pause after a failure. `tries` is the number of earlier failures.
func (w *worker) backoff(tries int) time.Duration {
	return sleep.Backoff(tries, w.timing.minBackoff, w.timing.maxBackoff)
}
