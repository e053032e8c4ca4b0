package ingest

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/sony/gobreaker/v2"
)

// errTimeout is the cause of a fetch that took too long.
var errTimeout = errors.New("the fetch took longer than it may")

// tally is what one run has stored and refused.
type tally struct {
	rows     int
	rejected Rejections
}

// run fetches one window, stores it and rolls it up. It counts and logs how
// that went. The watermark moves only when all of the window is stored.
func (r *Runner) run(ctx context.Context, f *feedRun, w Window, when tense) Outcome {
	begun := time.Now()
	var sum tally
	err := r.fetch(ctx, f, w, when, &sum)
	outcome := outcomeOf(err)
	if err == nil {
		f.agenda.fetched(w)
	}
	if f.pending && ctx.Err() == nil {
		if rollUpErr := r.rollUp(ctx, f); rollUpErr != nil {
			r.notePanic(ctx, f, rollUpErr)
			if err = errors.Join(err, rollUpErr); outcome == Done {
				outcome = RollUpFailed
			}
		}
	}
	if ctx.Err() != nil {
		return outcome // stopped by us: no outcome of the source
	}
	r.count(f, outcome, time.Since(begun))
	log := r.log.With("source", f.Name, "from", w.From, "to", w.To, "outcome", outcome,
		"stored", sum.rows, "rejected", sum.rejected, "seconds", time.Since(begun).Seconds())
	if err != nil {
		log.WarnContext(ctx, "source failed", "error", err, "failures", f.failures[when]+1)
		return outcome
	}
	level := slog.LevelInfo
	if sum.rows == 0 && len(sum.rejected) == 0 {
		level = slog.LevelDebug // a folder is looked at every half minute
	}
	log.Log(ctx, level, "source ran")
	return outcome
}

// fetch stores what waits and transfers the window.
func (r *Runner) fetch(ctx context.Context, f *feedRun, w Window, when tense, sum *tally) error {
	limited, cancel := context.WithTimeoutCause(ctx, f.Timeout, errTimeout)
	defer cancel()
	load := patiently(r.archive, func(err error) {
		r.metrics.storeErrors.WithLabelValues(f.Name).Inc()
		r.log.WarnContext(ctx, "a batch waits for the store", "source", f.Name, "error", err)
	})
	stored := func(_ context.Context, b *Batch) error { //nolint:unparam // an import can fail here
		r.metrics.batch(f.Name, b)
		f.pending = f.pending || b.Rows() > 0 || b.Withdrawn > 0
		sum.rows += b.Rows()
		sum.rejected.Merge(b.Rejected)
		return nil
	}
	err := r.storeWaiting(limited, f, load, stored)
	if err == nil {
		err = f.protected(when, func() error {
			left, err := transfer(limited, f.Source, w, load, stored)
			f.waiting = left
			if err != nil && errors.Is(context.Cause(limited), errTimeout) {
				err = errors.Join(errTimeout, err)
			}
			return err
		})
	}
	r.notePanic(ctx, f, err)
	if refused, ok := errors.AsType[*BatchError](err); ok {
		r.metrics.refused.WithLabelValues(f.Name, string(refused.Reason)).Inc()
	}
	return err
}

// protected calls fetch unless the breaker is open. Only the present can open
// it: a source that has no past must not lose its present for that.
func (f *feedRun) protected(when tense, fetch func() error) error {
	if when == past {
		if f.breaker.State() != gobreaker.StateClosed {
			return gobreaker.ErrOpenState
		}
		return fetch()
	}
	_, err := f.breaker.Execute(func() (struct{}, error) { return struct{}{}, fetch() })
	return err
}

// storeWaiting stores the batches that an earlier fetch could not: their source
// may believe that they are stored and not bring them again.
func (r *Runner) storeWaiting(ctx context.Context, f *feedRun, load, stored func(context.Context, *Batch) error) error {
	for len(f.waiting) > 0 {
		b := f.waiting[0]
		if err := storeOne(ctx, b, load, stored); err != nil {
			return err
		}
		b.Release()
		f.waiting = f.waiting[1:]
	}
	return nil
}

func releaseAll(batches *[]*Batch) {
	for _, b := range *batches {
		b.Release()
	}
	*batches = nil
}

// rollUp announces what is pending, and will again when that fails.
func (r *Runner) rollUp(ctx context.Context, f *feedRun) error {
	if err := guard(func() error { return r.onChange(ctx) }); err != nil {
		return err
	}
	f.pending = false
	return nil
}

func (r *Runner) notePanic(ctx context.Context, f *feedRun, err error) {
	if panicked, ok := errors.AsType[*PanicError](err); ok {
		r.metrics.panics.WithLabelValues(f.Name).Inc()
		r.log.LogAttrs(ctx, slog.LevelError, "panic", slog.String("source", f.Name),
			slog.Any("panic", panicked.Value), slog.String("stack", string(panicked.Stack)))
	}
}

// count counts a run that came to its end.
func (r *Runner) count(f *feedRun, outcome Outcome, took time.Duration) {
	r.metrics.runs.WithLabelValues(f.Name, string(outcome)).Inc()
	r.metrics.last(f.Name, outcome)
	if outcome != BreakerOpen {
		r.metrics.seconds.WithLabelValues(f.Name).Observe(took.Seconds())
	}
	backlog := time.Duration(0)
	if f.History > 0 && f.agenda.edge.After(f.agenda.horizon) {
		backlog = f.agenda.edge.Sub(f.agenda.horizon)
	}
	r.metrics.backlog.WithLabelValues(f.Name).Set(backlog.Seconds())
	if outcome == Done {
		r.metrics.lastSuccess.WithLabelValues(f.Name).Set(float64(time.Now().UnixMilli()) / 1000)
	}
}

// outcomeOf names what an error of a fetch means.
func outcomeOf(err error) Outcome {
	var (
		panicked *PanicError
		refused  *BatchError
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
