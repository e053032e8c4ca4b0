package runner

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/sony/gobreaker/v2"

	"vayu/ingest"
	"vayu/internal/panics"
)

// errTimeout is the cause with which a fetch is cancelled after [Feed.Timeout].
var errTimeout = errors.New("the fetch timed out")

const (
	// maxUnrecorded is the largest number of runs of a feed that wait for the journal while ClickHouse is down. Older
	// runs are only in the log.
	maxUnrecorded = 100
	// maxUnrecordedValues is the number of waiting runs that keep their rejected values. A run has at most 200 KiB of
	// them for each reason.
	maxUnrecordedValues = 5
	// recordTimeout bounds an attempt to record runs.
	recordTimeout = 5 * time.Second
)

// run fetches one window, stores its readings and notifies the roll-up. It records, counts and logs the outcome, except
// at shutdown. The watermark advances only after a complete window.
func (r *Runner) run(ctx context.Context, f *feedRun, w ingest.Window, kind runKind) Outcome {
	begun := time.Now()
	run := ingest.Run{ID: ingest.NewRunID(begun), Source: f.Name, Kind: recorded[kind], Window: w, ConfigSHA256: f.ConfigSHA256}
	err := r.fetch(ctx, f, kind, &run)
	outcome := outcomeOf(err)
	if err == nil {
		f.plan.fetched(w, kind)
	}
	if ctx.Err() == nil {
		r.save(ctx, f, nil)
		r.noteWatermark(ctx, f, time.Now())
	}
	if run.Stored+run.Withdrawn > 0 && ctx.Err() == nil {
		r.onChange(ctx, kind == backfillRun)
	}
	if ctx.Err() != nil {
		return outcome // shutdown is no outcome of the source
	}
	run.Elapsed, run.Outcome = time.Since(begun), string(outcome)
	if err != nil {
		run.Error = err.Error()
	}
	r.count(f, outcome, run.Elapsed)
	defer r.record(ctx, f, run) // after the message about the run
	log := r.log.With("source", f.Name, "run", run.ID, "from", w.From, "to", w.To, "outcome", outcome,
		"stored", run.Stored, "rejected", run.Rejected, "seconds", run.Elapsed.Seconds())
	if err != nil {
		log.WarnContext(ctx, "source failed", "error", err, "failures", f.failures[kind]+1)
		return outcome
	}
	level := slog.LevelInfo
	if run.Stored == 0 && len(run.Rejected) == 0 {
		level = slog.LevelDebug // a folder is polled every half minute
	}
	log.Log(ctx, level, "source ran")
	return outcome
}

// record adds a run to the journal, together with earlier runs that could not be stored in it. It omits a run without
// requests, readings and rejections, such as the poll of an unchanged folder.
func (r *Runner) record(ctx context.Context, f *feedRun, run ingest.Run) {
	if run.Error == "" && run.Received.Requests+run.Stored+run.Withdrawn+len(run.Rejected) == 0 {
		return
	}
	f.unrecorded = append(f.unrecorded, run)
	if len(f.unrecorded) > maxUnrecorded {
		f.unrecorded = slices.Delete(f.unrecorded, 0, 1)
	}
	if n := len(f.unrecorded) - maxUnrecordedValues; n > 0 {
		f.unrecorded[n-1].Values = nil
	}
	ctx, cancel := context.WithTimeout(ctx, recordTimeout)
	defer cancel()
	err := r.journal.Record(ctx, f.unrecorded)
	if err == nil {
		f.unrecorded = nil
		return
	}
	r.metrics.storeErrors.WithLabelValues(f.Name).Inc()
	r.log.WarnContext(ctx, "recording a run failed; the next run tries again", "source", f.Name, "error", err)
}

// fetch first stores the batches that an earlier run left unstored, and then fetches the window of the run. It sets the
// counts of the run. It extends run.Window to the windows of the run's partitions.
func (r *Runner) fetch(ctx context.Context, f *feedRun, kind runKind, run *ingest.Run) error {
	w := run.Window
	var received ingest.Recorder
	defer func() { run.Received, run.Fingerprint = received.Received(), received.Fingerprint() }()
	limited, cancel := context.WithTimeoutCause(ingest.WithRecorder(ctx, &received), f.Timeout, errTimeout)
	defer cancel()
	load := loadWithRetry(&runStore{r.archive, run.ID}, func(err error) {
		r.metrics.storeErrors.WithLabelValues(f.Name).Inc()
		r.log.WarnContext(ctx, "storing a batch failed, retrying", "source", f.Name, "error", err)
	})
	stored := func(_ context.Context, b *ingest.Batch) error { //nolint:unparam // the importer's callback can fail
		r.metrics.batch(f.Name, b)
		run.Add(b)
		r.noteNewest(f, run.Newest)
		if kind == liveRun && len(b.Partitions) > 0 {
			r.save(ctx, f, f.partitions.apply(b.Partitions, w, f.Lookback, time.Now()))
		}
		return nil
	}
	err := r.storeUnstored(limited, f, load, stored)
	if err == nil {
		err = f.callThroughBreaker(kind, func() error {
			left, err := transfer(limited, r.source(ctx, f, kind, run), w, load, stored)
			f.unstored = left
			for _, b := range left {
				b.Run = run.ID
				run.AddRejected(b)
			}
			if err != nil && errors.Is(context.Cause(limited), errTimeout) {
				err = errors.Join(errTimeout, err)
			}
			return err
		})
	}
	r.notePanic(ctx, f, err)
	if refused, ok := errors.AsType[*ingest.BatchError](err); ok {
		r.metrics.refused.WithLabelValues(f.Name, string(refused.Reason)).Inc()
	}
	return err
}

// source returns the source of a run. In a live run of a source with partitions, each partition continues at its own
// watermark.
func (r *Runner) source(ctx context.Context, f *feedRun, kind runKind, run *ingest.Run) ingest.Source {
	w := run.Window
	divided, ok := f.Source.(ingest.Partitioned)
	if !ok || kind != liveRun {
		return f.Source
	}
	if !f.plan.target.Equal(w.To) {
		f.plan.target = w.To
		r.save(ctx, f, nil)
	}
	return partitionFetch{divided, func(listed []ingest.Partition) []ingest.Partition {
		all := f.partitions.windows(listed, w, f.Feed, time.Now())
		for _, part := range all {
			if part.Window.From.Before(run.Window.From) {
				run.Window.From = part.Window.From
			}
		}
		return all
	}}
}

// noteNewest updates the time of the newest stored reading. A zero time has no effect.
func (r *Runner) noteNewest(f *feedRun, at time.Time) {
	if at.After(f.newest) {
		f.newest = at
		r.metrics.newest.WithLabelValues(f.Name).Set(float64(at.Unix()))
	}
}

// callThroughBreaker calls fetch if the circuit breaker permits it. A half-open breaker
// permits only live runs. Only live runs can open the breaker, so that a failing backfill
// does not stop live runs.
func (f *feedRun) callThroughBreaker(kind runKind, fetch func() error) error {
	if kind == backfillRun {
		if f.breaker.State() != gobreaker.StateClosed {
			return gobreaker.ErrOpenState
		}
		return fetch()
	}
	_, err := f.breaker.Execute(func() (struct{}, error) { return struct{}{}, fetch() })
	return err
}

// storeUnstored stores the batches that an earlier run fetched but could not store. The source may not yield them
// again, because it may regard them as stored.
func (r *Runner) storeUnstored(
	ctx context.Context, f *feedRun, load, stored func(context.Context, *ingest.Batch) error,
) error {
	for len(f.unstored) > 0 {
		b := f.unstored[0]
		if err := storeOne(ctx, b, load, stored); err != nil {
			return err
		}
		b.Release()
		f.unstored = f.unstored[1:]
	}
	return nil
}

func releaseAll(batches *[]*ingest.Batch) {
	for _, b := range *batches {
		b.Release()
	}
	*batches = nil
}

func (r *Runner) notePanic(ctx context.Context, f *feedRun, err error) {
	if panicked, ok := errors.AsType[*panics.Error](err); ok {
		r.metrics.panics.WithLabelValues(f.Name).Inc()
		r.log.LogAttrs(ctx, slog.LevelError, "panic", slog.String("source", f.Name),
			slog.Any("panic", panicked.Value), slog.String("stack", string(panicked.Stack)))
	}
}

// count records the metrics of a finished run.
func (r *Runner) count(f *feedRun, outcome Outcome, took time.Duration) {
	r.metrics.runs.WithLabelValues(f.Name, string(outcome)).Inc()
	r.metrics.setLastOutcome(f.Name, outcome)
	if outcome != BreakerOpen {
		r.metrics.seconds.WithLabelValues(f.Name).Observe(took.Seconds())
	}
	backlog := time.Duration(0)
	if f.History > 0 && f.plan.oldest.After(f.plan.horizon) {
		backlog = f.plan.oldest.Sub(f.plan.horizon)
	}
	r.metrics.backlog.WithLabelValues(f.Name).Set(backlog.Seconds())
	if outcome == Done {
		r.metrics.lastSuccess.WithLabelValues(f.Name).Set(float64(time.Now().UnixMilli()) / 1000)
	}
}

// outcomeOf maps the error of a fetch or an import to its outcome.
func outcomeOf(err error) Outcome {
	var (
		panicked *panics.Error
		refused  *ingest.BatchError
		store    *StoreError
	)
	switch {
	case err == nil:
		return Done
	case errors.Is(err, gobreaker.ErrOpenState), errors.Is(err, gobreaker.ErrTooManyRequests):
		return BreakerOpen
	case errors.As(err, &panicked):
		return Panicked
	case errors.Is(err, errTimeout):
		return TimedOut
	case errors.As(err, &refused):
		return Refused
	case errors.As(err, &store):
		return StoreFailed
	}
	return FetchFailed
}
