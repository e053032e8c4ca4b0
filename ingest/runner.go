package ingest

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

	"vayu/schema"
)

// Archive is a [Store] that remembers what it was given.
type Archive interface {
	Store
	// Coverage returns the first and the last end of an averaging interval
	// stored from a source, looking no further back than since; both zero when
	// there is none.
	Coverage(ctx context.Context, source string, since time.Time) (first, last time.Time, err error)
}

// Runner asks feeds for readings on their schedules and stores what they
// bring. Each feed has a goroutine of its own, so one never delays another and
// never overlaps itself; whatever a source does (fails, hangs, panics) stays
// with its feed.
type Runner struct {
	archive  Archive
	onChange func(context.Context) error
	metrics  *Metrics
	log      *slog.Logger
	feeds    []*feedRun
}

// feedRun is a feed at work. Only its own goroutine touches it.
type feedRun struct {
	Feed
	schedule cron.Schedule
	breaker  *gobreaker.CircuitBreaker[struct{}]
	agenda   agenda
	waiting  []*Batch // fetched, not yet stored
	pending  bool     // readings are stored that onChange has not been told of
	failures [2]int   // in a row, of the present and of the past
}

// A breaker opens after five failures in a row (under the waits of [backoff]
// that is after four minutes) and lets one attempt through every 15 minutes, so
// a server in trouble sees four requests an hour from us.
const (
	breakerFailures = 5
	breakerPause    = 15 * time.Minute
)

// NewRunner prepares a runner. onChange is called after each window that
// stored something, with what changed, from several goroutines; what it has
// refused with an error is passed again with the next. An error names a feed
// that cannot be run.
func NewRunner(archive Archive, onChange func(context.Context) error, metrics *Metrics, log *slog.Logger, feeds ...Feed) (*Runner, error) {
	r := &Runner{archive: archive, onChange: onChange, metrics: metrics, log: log}
	names := make(map[string]bool)
	for _, feed := range feeds {
		feed, schedule, err := feed.prepare()
		if err != nil {
			return nil, err
		}
		if names[feed.Name] {
			return nil, fmt.Errorf("feed %q is there twice", feed.Name)
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
			state.Set(float64(to)) // gobreaker's numbers: closed, half open, open
		},
		IsExcluded: func(err error) bool { // neither is the source's fault
			var store *StoreError
			return errors.As(err, &store) || errors.Is(err, context.Canceled)
		},
	})
}

// Run runs the feeds until ctx ends and returns nil. Each is asked at once and
// then on its schedule. A fetch that is under way when ctx ends is abandoned;
// what it has stored stays.
func (r *Runner) Run(ctx context.Context) error {
	var all sync.WaitGroup
	for _, f := range r.feeds {
		all.Go(func() { r.loop(ctx, f) })
	}
	<-ctx.Done()
	all.Wait()
	return nil
}

// Forget takes back what the metrics say of the last runs, after the end of Run: who
// runs the feeds next, here or in another process, says how they are.
func (r *Runner) Forget() {
	for _, f := range r.feeds {
		r.metrics.idle(f.Name)
	}
}

// loop runs one feed until ctx ends. The present has precedence; slices of the
// past fill the time between.
func (r *Runner) loop(ctx context.Context, f *feedRun) {
	defer releaseAll(&f.waiting)
	if !r.recall(ctx, f) {
		return
	}
	due, pastDue := time.Now(), time.Now()
	for ctx.Err() == nil {
		now := time.Now()
		window, when := f.agenda.present(now), present
		if now.Before(due) {
			slice, more := f.agenda.backlog()
			if wait := untilNext(now, due, pastDue, more); wait > 0 {
				_ = sleep(ctx, wait) // the loop's condition sees the end of ctx
				continue
			}
			window, when = slice, past
		}
		outcome := r.run(ctx, f, window, when)
		if ctx.Err() != nil {
			return
		}
		if outcome == Done {
			f.failures[when] = 0
			if when == present && !window.To.Before(now) { // else there is more to catch up
				due = f.next(time.Now())
			}
			continue
		}
		again := time.Now().Add(backoff(f.failures[when]))
		f.failures[when]++
		if when == present || outcome == RollUpFailed { // the next run rolls up what is pending
			due = earlier(again, f.next(time.Now()))
		}
		if when == past {
			pastDue = again
		}
	}
}

// tense is what a run is about. It is an index of feedRun.failures.
type tense int

const (
	present tense = iota
	past
)

// untilNext returns how long a feed that is not due has to wait: 0 when it can
// fetch a slice of the past now.
func untilNext(now, due, pastDue time.Time, backlog bool) time.Duration {
	switch {
	case !backlog:
		return due.Sub(now)
	case now.Before(pastDue):
		return earlier(due, pastDue).Sub(now)
	}
	return 0
}

// next returns when the feed is scheduled after now.
func (f *feedRun) next(now time.Time) time.Time {
	at := f.schedule.Next(now.In(schema.India))
	if f.Jitter > 0 {
		at = at.Add(rand.N(f.Jitter))
	}
	return at
}

// backoff is how long to wait after that many failures in a row before the
// present one: 15 s, 30 s, 1, 2, 4, 8 and then always 10 minutes. The first
// five tries fall into four minutes, ten into an hour.
func backoff(failures int) time.Duration {
	return min(15*time.Second<<min(failures, 10), 10*time.Minute)
}

// recall makes the feed's agenda from what the archive holds, for as long as
// that takes. It reports false when ctx ended.
func (r *Runner) recall(ctx context.Context, f *feedRun) bool {
	for failures := 0; ; failures++ {
		now := time.Now()
		first, last, err := r.archive.Coverage(ctx, f.Name, now.Add(-f.History-pastSlice))
		if err == nil {
			f.agenda = newAgenda(f.Feed, first, last, now)
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		r.metrics.storeErrors.WithLabelValues(f.Name).Inc()
		r.log.WarnContext(ctx, "cannot tell what is stored", "source", f.Name, "error", err)
		if sleep(ctx, min(time.Second<<min(failures, 5), 30*time.Second)) != nil {
			return false
		}
	}
}
