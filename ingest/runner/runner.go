// Package runner fetches sources on a schedule, imports files, and makes trial fetches.
// It handles the schedule, jitter, lookback, timeout, panics, circuit breaker,
// watermark and metrics of each source.
package runner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/robfig/cron/v3"
	"github.com/sony/gobreaker/v2"

	"vayu/ingest"
	"vayu/internal/sleep"
	"vayu/schema"
)

// Archive is a [Store] that can also report which times it covers.
type Archive interface {
	Store
	// Coverage returns the times of the first and the last stored reading of a source,
	// at or after the time since. Both are zero if no such reading exists.
	Coverage(ctx context.Context, source string, since time.Time) (first, last time.Time, err error)
}

// Journal records runs of sources, normally in ClickHouse.
type Journal interface {
	// Record stores runs with their rejected values. It is idempotent and may be called
	// again after an error. Calls come from several goroutines.
	Record(ctx context.Context, runs []ingest.Run) error
}

// Runner fetches feeds on their schedules and stores their readings. Each feed has its
// own goroutine, so that it delays no other feed, and its fetches do not overlap.
// Errors, hangs and panics of a source affect only its feed.
type Runner struct {
	archive  Archive
	journal  Journal
	onChange func(context.Context) error
	metrics  *Metrics
	log      *slog.Logger
	feeds    []*feedRun
}

// feedRun is a running feed. Only its own goroutine uses it.
type feedRun struct {
	Feed
	schedule      cron.Schedule
	breaker       *gobreaker.CircuitBreaker[struct{}]
	plan          fetchPlan
	unstored      []*ingest.Batch // batches that are fetched but not yet stored
	unrecorded    []ingest.Run    // runs that are not yet in the journal
	rollUpPending bool            // readings were stored after the last successful onChange
	newest        time.Time       // of the stored readings; zero for none
	failures      [2]int          // number of consecutive failed runs, by runKind
}

// A feed's circuit breaker opens after five consecutive failures, which take four
// minutes. It lets one attempt through every 15 minutes, so a failing server gets at most
// four fetches an hour.
const (
	breakerFailures = 5
	breakerPause    = 15 * time.Minute
)

// Limits of a feed's exponential backoff. After failures only, the fifth attempt starts
// after four minutes, and the tenth after 46.
const (
	firstRetry   = 15 * time.Second
	longestRetry = 10 * time.Minute
)

// New prepares a runner. After each window with stored or withdrawn readings, the runner
// calls onChange, the roll-up. The calls come from several goroutines. If onChange fails,
// it is called again after the next run. The error of New names the invalid feed.
func New(archive Archive, journal Journal, onChange func(context.Context) error, metrics *Metrics, log *slog.Logger, feeds ...Feed) (*Runner, error) {
	r := &Runner{archive: archive, journal: journal, onChange: onChange, metrics: metrics, log: log}
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
		r.feeds = append(r.feeds, &feedRun{Feed: feed, schedule: schedule, breaker: newBreaker(feed.Name, metrics)})
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

// Run runs the feeds until ctx ends and returns nil. Each feed is fetched at once and
// then on its schedule. A fetch in progress when ctx ends is cancelled; stored batches
// stay.
func (r *Runner) Run(ctx context.Context) error {
	var all sync.WaitGroup
	for _, f := range r.feeds {
		all.Go(func() { r.loop(ctx, f) })
	}
	<-ctx.Done()
	all.Wait()
	return nil
}

// ResetMetrics resets the gauges of the feeds after Run has ended. The next
// leader, here or in another process, sets its own.
func (r *Runner) ResetMetrics() {
	for _, f := range r.feeds {
		r.metrics.reset(f.Name)
	}
}

// loop runs one feed until ctx ends. Live runs have precedence; backfill runs fill
// the time between.
func (r *Runner) loop(ctx context.Context, f *feedRun) {
	defer releaseAll(&f.unstored)
	if !r.loadPlan(ctx, f) {
		return
	}
	due, backfillDue := time.Now(), time.Now()
	for ctx.Err() == nil {
		now := time.Now()
		window, kind := f.plan.liveWindow(now), liveRun
		if now.Before(due) {
			slice, more := f.plan.backfillWindow()
			if wait := untilNext(now, due, backfillDue, more); wait > 0 {
				sleep.For(ctx, wait) // the result is not needed, because the loop checks ctx
				continue
			}
			window, kind = slice, backfillRun
		}
		outcome := r.run(ctx, f, window, kind)
		if ctx.Err() != nil {
			return
		}
		if outcome == Done {
			f.failures[kind] = 0
			if kind == liveRun && !window.To.Before(now) { // else the next window is due now
				due = f.next(time.Now())
			}
			continue
		}
		again := time.Now().Add(sleep.Backoff(f.failures[kind], firstRetry, longestRetry))
		f.failures[kind]++
		if kind == liveRun || outcome == RollUpFailed { // the next run repeats a pending roll-up
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

// recorded are the kinds of runs in the journal, by runKind.
var recorded = [...]ingest.RunKind{liveRun: ingest.LiveRun, backfillRun: ingest.BackfillRun}

// untilNext returns how long a feed without a due live run must wait; 0 if the feed can
// backfill now.
func untilNext(now, due, backfillDue time.Time, backlog bool) time.Duration {
	switch {
	case !backlog:
		return due.Sub(now)
	case now.Before(backfillDue):
		return earlier(due, backfillDue).Sub(now)
	}
	return 0
}

// next returns the next scheduled time after now, plus a random delay below the jitter.
func (f *feedRun) next(now time.Time) time.Time {
	at := f.schedule.Next(now.In(schema.India))
	if f.Jitter > 0 {
		at = at.Add(rand.N(f.Jitter))
	}
	return at
}

// interval returns the longest time between scheduled runs of the next two weeks.
func (f *feedRun) interval(now time.Time) (longest time.Duration) {
	at := f.schedule.Next(now.In(schema.India))
	for end := now.Add(14 * 24 * time.Hour); ; {
		next := f.schedule.Next(at)
		longest = max(longest, next.Sub(at))
		if at = next; at.After(end) || longest < time.Hour {
			return longest
		}
	}
}

// loadPlan derives the fetch plan from the archive's coverage and retries until it
// succeeds. It reports false when ctx ended.
func (r *Runner) loadPlan(ctx context.Context, f *feedRun) bool {
	for failures := 0; ; failures++ {
		now := time.Now()
		first, last, err := r.archive.Coverage(ctx, f.Name, now.Add(-f.History-f.step()))
		if err == nil {
			f.plan = newFetchPlan(f.Feed, first, last, now)
			r.metrics.feed(f.Feed, f.interval(now))
			// A source that never brings anything is as old as its collection.
			r.metrics.newest.WithLabelValues(f.Name).Set(float64(now.Unix()))
			r.noteNewest(f, last)
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		r.metrics.storeErrors.WithLabelValues(f.Name).Inc()
		r.log.WarnContext(ctx, "reading the coverage failed, retrying", "source", f.Name, "error", err)
		if !sleep.For(ctx, sleep.Backoff(failures, time.Second, 30*time.Second)) {
			return false
		}
	}
}
