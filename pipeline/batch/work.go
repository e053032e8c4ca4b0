package batch

import (
	"context"
	"time"

	"vayu/internal/failurelog"
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
	// minBackoff is the pause of a lane or chunk after its first failure. Each further failure
	// doubles the pause, up to maxBackoff.
	minBackoff, maxBackoff time.Duration
	// grace is how long records in flight may take to finish when the instance stops.
	// releaseTimeout limits the release of a lease.
	grace, releaseTimeout time.Duration
	// recordTimeout limits one call of [item.Kind.Do]. It is twice the 30 s timeout of a bank.
	recordTimeout time.Duration
	// purgeInterval is the time between two polls for expired results. Results are deleted
	// purgeDelay after they expire. purgeDelay exceeds clock skew, and the duration of a reply that
	// reads results.
	purgeInterval, purgeDelay time.Duration
}

// defaultTiming lets a worker stop within 15 s, as the dispatch of webhooks does.
var defaultTiming = timing{
	pollInterval: time.Second, lease: time.Minute, minBackoff: 100 * time.Millisecond, maxBackoff: 30 * time.Second,
	grace: 8 * time.Second, releaseTimeout: 3 * time.Second, recordTimeout: time.Minute, purgeInterval: time.Minute, purgeDelay: time.Hour,
}

// worker processes the batches of one kind. Only the goroutine that executes run uses the fields
// from scheduler to stopping, except tokens. Other goroutines send functions to completions.
type worker struct {
	*Service

	kind          *item.Kind
	metrics       metrics
	timing        timing
	storeFailures *failurelog.Log
	wakeups       chan struct{} // receives after a batch was accepted
	completions   chan func()   // functions that the goroutine of run calls after a job

	scheduler     *scheduler
	leasedChunks  map[*chunk]bool // chunks that this worker has leased
	bytes         int             // size of the records of leasedChunks
	tokens        *workqueue.Tokens
	leases        uint64          // number of claims
	jobs          int             // goroutines that will send to completions
	busy          map[string]bool // names of the running jobs that jobOnce started
	pollAgain     bool            // a poll was requested during a poll
	leasingPaused bool            // no chunk is leased before the next tick of pollInterval
	stopping      bool
}

func newWorker(s *Service, kind *item.Kind, m metrics) *worker {
	w := &worker{
		Service: s, kind: kind, metrics: m, timing: defaultTiming,
		wakeups: make(chan struct{}, 1), completions: make(chan func(), kind.Concurrency),
	}
	w.storeFailures = failurelog.New(s.Log, "batches of "+kind.Name+": the state store", "working on batches", "batches stay queued", w.metrics.failures)
	return w
}

// wake makes the worker poll for new batches. It is safe for concurrent use.
func (w *worker) wake() {
	select {
	case w.wakeups <- struct{}{}:
	default:
	}
}

// run processes batches until ctx ends, and then waits until the records in flight have finished.
func (w *worker) run(ctx context.Context) {
	w.scheduler, w.leasedChunks, w.bytes, w.jobs = newScheduler(w.kind.Concurrency), map[*chunk]bool{}, 0, 0
	w.tokens, w.busy, w.pollAgain, w.leasingPaused, w.stopping = workqueue.NewTokens(), map[string]bool{}, false, false, false
	if !w.expireLeases(ctx) {
		return
	}
	working, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	defer giveUp()
	look, renew, empty := time.NewTicker(w.timing.pollInterval), time.NewTicker(w.timing.lease/3), time.NewTicker(w.timing.purgeInterval)
	defer look.Stop()
	defer renew.Stop()
	defer empty.Stop()
	w.poll(ctx)
	w.renew(ctx)
	w.purge(ctx)
	for ctx.Err() == nil {
		again := w.startRecords(working)
		w.leaseChunks(ctx)
		select {
		case then := <-w.completions:
			w.jobs--
			then()
		case <-again:
		case <-w.wakeups:
			w.poll(ctx)
		case <-look.C:
			w.leasingPaused = false
			w.poll(ctx)
			w.releaseAll(working)
		case <-renew.C:
			w.renew(ctx)
		case <-empty.C:
			w.purge(ctx)
		case <-ctx.Done():
		}
	}
	w.stop(working, giveUp)
}

// stop drops the queued records, releases the chunks without records in flight, and waits for the
// other chunks. After the grace period it calls giveUp, which cancels the records in flight.
func (w *worker) stop(working context.Context, giveUp func()) {
	w.stopping = true
	grace := time.AfterFunc(w.timing.grace, giveUp)
	defer grace.Stop()
	for c := range w.leasedChunks {
		w.scheduler.drop(c)
	}
	w.releaseAll(working)
	for w.jobs > 0 {
		then := <-w.completions
		w.jobs--
		then()
	}
}

// expireLeases ends all leases on SQLite, where only a killed process can have left leases. On
// PostgreSQL leases expire by themselves. It returns false if ctx has ended.
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
		if err == nil {
			return true
		}
		if !sleep.For(ctx, w.timing.pollInterval) {
			return false
		}
	}
}

// job calls do in a goroutine. The goroutine of run then calls the function that do has returned.
func (w *worker) job(do func() (then func())) {
	w.jobs++
	go func() { w.completions <- do() }()
}

// jobOnce starts a job, or returns false if a job with the same name is still running.
func (w *worker) jobOnce(name string, do func() (then func())) bool {
	if w.busy[name] {
		return false
	}
	w.busy[name] = true
	w.job(func() func() {
		then := do()
		return func() {
			w.busy[name] = false
			then()
		}
	})
	return true
}
