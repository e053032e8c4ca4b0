// Package runner fetches sources on a schedule, imports files, and makes trial fetches. It handles the schedule,
// jitter, lookback, timeout, panics, circuit breaker, watermark and metrics of each source.
package runner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/robfig/cron/v3"
	"github.com/sony/gobreaker/v2"

	"vayu/ingest"
	"vayu/internal/sleep"
)

// Runner fetches feeds on their schedules and stores their readings. Each feed has its own goroutine. A feed therefore
// delays no other feed, and its own fetches do not overlap. Errors, hangs and panics of a source affect only its feed.
type Runner struct {
	archive  Archive
	journal  Journal
	progress ingest.ProgressStore
	onChange func(ctx context.Context, wait bool)
	quit     <-chan struct{}
	metrics  *Metrics
	log      *slog.Logger
	feeds    []*feedRun
}

// Config configures a Runner. All fields except Progress and Quit are required.
type Config struct {
	Archive Archive
	Journal Journal
	// Progress stores the progress of feeds. If it is nil, the progress is in memory only.
	Progress ingest.ProgressStore
	// OnChange notifies the roll-up. The runner calls it from several goroutines, after each window with stored or
	// withdrawn readings. If `wait` is true, OnChange returns after the roll-up. Backfill runs wait, so that they store
	// readings no faster than the roll-up processes them. The first run of a feed waits too, so that the newest
	// readings are rolled up first.
	OnChange func(ctx context.Context, wait bool)
	// Quit stops the runner when it is closed: each feed ends after its run in progress. A nil Quit never stops the
	// runner.
	Quit    <-chan struct{}
	Metrics *Metrics
	Log     *slog.Logger
}

// feedRun is a running feed. Only its own goroutine uses it.
type feedRun struct {
	Feed
	cursor

	schedule   cron.Schedule
	breaker    *gobreaker.CircuitBreaker[struct{}]
	unstored   []*ingest.Batch // batches that are fetched but not yet stored
	unrecorded []ingest.Run    // runs that are not yet in the journal
	failures   [2]int          // number of consecutive failed runs, by runKind
}

// Settings of a feed's circuit breaker. It opens after five consecutive failures, which take four minutes. An open
// breaker permits one attempt every 15 minutes, so a failing server gets at most four fetches an hour.
const (
	breakerFailures = 5
	breakerPause    = 15 * time.Minute
)

// Limits of a feed's exponential backoff. If every attempt fails, the fifth starts after four minutes, and the tenth
// after 46.
const (
	firstRetry   = 15 * time.Second
	longestRetry = 10 * time.Minute
)

// New prepares a runner. It fails if a feed is invalid or two feeds have the same name. The error names the feed.
func New(c Config, feeds ...Feed) (*Runner, error) {
	r := &Runner{archive: c.Archive, journal: c.Journal, progress: c.Progress, onChange: c.OnChange, quit: c.Quit, metrics: c.Metrics, log: c.Log}
	if r.progress == nil {
		r.progress = ingest.MemoryProgress{}
	}
	names := make(map[string]bool)
	for _, feed := range feeds {
		feed, schedule, err := feed.prepare()
		if err != nil {
			return nil, err
		}
		if names[feed.Name] {
			return nil, fmt.Errorf("feed %q is defined twice", feed.Name)
		}
		names[feed.Name] = true
		r.feeds = append(r.feeds, &feedRun{Feed: feed, schedule: schedule, breaker: newBreaker(feed.Name, c.Metrics)})
	}
	return r, nil
}

func newBreaker(name string, metrics *Metrics) *gobreaker.CircuitBreaker[struct{}] {
	state := metrics.breaker.WithLabelValues(name)
	state.Set(0)
	return gobreaker.NewCircuitBreaker[struct{}](gobreaker.Settings{
		Name:        name,
		Timeout:     breakerPause,
		ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= breakerFailures },
		OnStateChange: func(_ string, _, to gobreaker.State) {
			state.Set(float64(to)) // 0 closed, 1 half open, 2 open
		},
		IsExcluded: func(err error) bool { // failures of the store and a shutdown are not the source's fault
			var store *StoreError
			return errors.As(err, &store) || errors.Is(err, context.Canceled)
		},
	})
}

// Run runs the feeds until ctx ends, or until [Config.Quit] is closed and the runs in progress have ended. It returns
// nil. A feed without stored progress is fetched at once, and then on its schedule. The end of ctx cancels fetches in
// progress. Stored batches stay stored.
func (r *Runner) Run(ctx context.Context) error {
	var all sync.WaitGroup
	for _, f := range r.feeds {
		all.Go(func() { r.loop(ctx, f) })
	}
	all.Wait()
	return nil
}

// sleep waits for d. It returns false if the feeds must end.
func (r *Runner) sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-r.quit:
		return false
	case <-ctx.Done():
		return false
	default:
	}
	select {
	case <-r.quit:
	case <-ctx.Done():
	case <-timer.C:
		return true
	}
	return false
}

// ResetMetrics resets the gauges of the feeds after Run has ended. The instance that collects the feeds next sets its
// own.
func (r *Runner) ResetMetrics() {
	for _, f := range r.feeds {
		r.metrics.reset(f.Name)
	}
}

// loop runs one feed until it must end. A live run has precedence when it is due. Backfill runs fill the time between
// live runs.
func (r *Runner) loop(ctx context.Context, f *feedRun) {
	defer releaseAll(&f.unstored)
	due, ok := r.loadPlan(ctx, f)
	if !ok {
		return
	}
	backfillDue := time.Now()
	for r.sleep(ctx, 0) {
		r.reload(ctx, f)
		now := time.Now()
		window, kind := f.plan.liveWindow(now), liveRun
		if now.Before(due) {
			earlier, more := f.plan.backfillWindow()
			if wait := untilNext(now, due, backfillDue, more); wait > 0 {
				r.sleep(ctx, wait) // the result is not needed, because the loop checks again
				continue
			}
			window, kind = earlier, backfillRun
		}
		resumed := !f.plan.target.IsZero()
		outcome := r.run(ctx, f, window, kind)
		if ctx.Err() != nil {
			return
		}
		if outcome == Done {
			f.failures[kind] = 0
			switch {
			case kind == liveRun && !window.To.Before(now):
				due = f.next(time.Now())
			case kind == liveRun && resumed:
				due = f.next(window.To)
			} // else the next window is due now
			continue
		}
		again := time.Now().Add(sleep.Backoff(f.failures[kind], firstRetry, longestRetry))
		f.failures[kind]++
		if kind == liveRun {
			due = earlier(again, f.next(time.Now()))
		}
		if kind == backfillRun {
			backfillDue = again
		}
	}
}

// runKind is the kind of a run. It indexes feedRun.failures.
type runKind int

const (
	liveRun runKind = iota
	backfillRun
)

// recorded maps each runKind to the kind of run in the journal.
var recorded = [...]ingest.RunKind{liveRun: ingest.LiveRun, backfillRun: ingest.BackfillRun}

// untilNext returns how long a feed waits when no live run is due. It returns 0 if a backfill run can start now.
func untilNext(now, due, backfillDue time.Time, backlog bool) time.Duration {
	switch {
	case !backlog:
		return due.Sub(now)
	case now.Before(backfillDue):
		return earlier(due, backfillDue).Sub(now)
	}
	return 0
}
