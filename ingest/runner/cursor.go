package runner

import (
	"context"
	"time"

	"vayu/ingest"
	"vayu/internal/sleep"
)

// cursor is the progress of a feed in memory. The runner's [ingest.ProgressStore] has a copy.
type cursor struct {
	plan       fetchPlan
	revision   int64 // revision of the loaded progress
	config     string
	partitions partitionPlan
	newest     time.Time // end of the newest stored averaging interval; zero for none
	restart    bool      // ClickHouse lacks stored readings, so the next save deletes the stored partitions
}

// unknown is the revision of a feed whose progress is not loaded. It differs from every stored revision.
const unknown = -1

// loadPlan plans a feed from its stored progress, and from the times of its first and last reading in the archive. It
// retries until it succeeds. It returns the time of the first live run, or false if ctx ended.
func (r *Runner) loadPlan(ctx context.Context, f *feedRun) (due time.Time, ok bool) {
	for failures := 0; ; failures++ {
		due, err := r.tryLoadPlan(ctx, f)
		if err == nil {
			return due, true
		}
		if ctx.Err() != nil {
			return due, false
		}
		r.metrics.storeErrors.WithLabelValues(f.Name).Inc()
		r.log.WarnContext(ctx, "reading the progress failed, retrying", "source", f.Name, "error", err)
		if !sleep.For(ctx, sleep.Backoff(failures, time.Second, 30*time.Second)) {
			return due, false
		}
	}
}

func (r *Runner) tryLoadPlan(ctx context.Context, f *feedRun) (due time.Time, err error) {
	now := time.Now()
	since := now.Add(-f.History - f.BackfillStep())
	first, last, err := r.archive.Coverage(ctx, f.Name, since)
	if err != nil {
		return due, err
	}
	stored, _, err := r.progress.Load(ctx, f.key(), unknown)
	if err != nil {
		return due, err
	}
	f.plan = newFetchPlan(f.Feed, first, last, now)
	f.revision, f.config = stored.Revision, stored.Config
	r.metrics.feed(f.Feed, f.interval(now))
	// Until a reading comes, the gauge has the time of the start. The age of the newest reading then counts from it.
	r.metrics.newest.WithLabelValues(f.Name).Set(float64(now.Unix()))
	r.noteNewest(f, last)
	if stored.Newest.After(last) && !stored.Newest.Before(since) {
		r.log.WarnContext(ctx, "ClickHouse lacks stored readings; fetching again by the readings that it has",
			"source", f.Name, "newest", last, "stored", stored.Newest)
		f.restart = true
		return now, nil
	}
	f.plan.restore(stored)
	f.partitions.states = stored.Partitions
	r.noteWatermark(ctx, f, now)
	return f.firstDue(now, stored), nil
}

// firstDue returns the time of the first live run. The run is due now if no run was completed, if the last run was
// interrupted, or if the configuration has changed. Otherwise the run is due at the first scheduled time after the
// watermark, or now if that time has passed.
func (f *feedRun) firstDue(now time.Time, stored ingest.Progress) time.Time {
	if stored.Watermark.IsZero() || !stored.Target.IsZero() || stored.Config != f.ConfigSHA256 {
		return now
	}
	return later(now, f.next(earlier(stored.Watermark, now)))
}

// reload loads the progress if an operator has changed it since the feed loaded it. If the store fails, the feed
// continues with the progress in memory.
func (r *Runner) reload(ctx context.Context, f *feedRun) {
	stored, changed, err := r.progress.Load(ctx, f.key(), f.revision)
	if err != nil {
		r.metrics.storeErrors.WithLabelValues(f.Name).Inc()
		r.log.WarnContext(ctx, "reading the progress failed; continuing with the last one", "source", f.Name, "error", err)
		return
	}
	if !changed {
		return
	}
	f.revision, f.partitions.states = stored.Revision, stored.Partitions
	f.plan.restore(stored)
	r.log.InfoContext(ctx, "a command has changed the progress", "source", f.Name, "watermark", stored.Watermark)
	r.noteWatermark(ctx, f, time.Now())
}
