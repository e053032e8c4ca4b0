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
	// maxUnrecorded is the largest number of a feed's runs that wait for the journal while ClickHouse is down. If more
	// runs wait, the oldest are dropped, and only the log has them.
	maxUnrecorded = 100
	// maxUnrecordedValues is the number of waiting runs that keep their rejected values: the newest ones. The rejected
	// values of a run have at most 200 KiB for each reason.
	maxUnrecordedValues = 5
	// recordTimeout bounds an attempt to record runs.
	recordTimeout = 5 * time.Second
)

// run fetches one window, stores its readings and notifies the roll-up. It records, counts and logs the outcome, except
// at shutdown. The watermark advances only after a complete window.
func (r *Runner) run(ctx context.Context, f *feedRun, w ingest.Window, kind runKind) Outcome {
	begun, first := time.Now(), f.plan.watermark.IsZero()
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
		r.onChange(ctx, first || kind == backfillRun)
	}
	if ctx.Err() != nil {
		return outcome // shutdown is no outcome of the source
	}
	run.Elapsed, run.Outcome = time.Since(begun), string(outcome)
	if err != nil {
		run.Error = err.Error()
	}
	r.count(f, outcome, run.Elapsed)
	defer r.record(ctx, f, run) // after the run was logged
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

// fetched records that a window is stored, and extends the range that counts as fetched.
func (p *fetchPlan) fetched(w ingest.Window, kind runKind) {
	if kind == liveRun {
		p.watermark, p.target = w.To, time.Time{}
	}
	if w.From.Before(p.oldest) && !w.To.Before(p.oldest) {
		p.oldest = w.From
	}
}

// record adds a run to the journal, together with earlier runs that could not be stored in it. It omits a run without
// error, requests, readings and rejections, such as the poll of an unchanged folder.
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
