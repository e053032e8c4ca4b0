package runner

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"time"

	"vayu/ingest"
)

// save stores the progress of a feed and of `partitions`. If the store returns [ingest.ErrRevised], an operator has
// changed the progress, so save discards this one. After any other error, the next call also stores these partitions.
func (r *Runner) save(ctx context.Context, f *feedRun, partitions map[string]ingest.PartitionProgress) {
	p := ingest.Progress{
		Revision: f.revision, Config: f.ConfigSHA256, Watermark: f.plan.watermark, Target: f.plan.target, Newest: f.newest,
		Restart: f.restart, Partitions: partitions,
	}
	if f.History > 0 {
		p.Oldest = f.plan.oldest
	}
	for key, state := range f.partitions.unsaved {
		if _, newer := partitions[key]; !newer {
			if p.Partitions == nil {
				p.Partitions = make(map[string]ingest.PartitionProgress)
			}
			p.Partitions[key] = state
		}
	}
	ctx, cancel := context.WithTimeout(ctx, recordTimeout)
	defer cancel()
	switch err := r.progress.Save(ctx, f.key(), p); {
	case err == nil:
		f.restart, f.partitions.unsaved = false, nil
	case errors.Is(err, ingest.ErrRevised): // reload adopts the change before the next run
		f.partitions.unsaved = nil
	default:
		f.partitions.unsaved = maps.Clone(p.Partitions)
		r.metrics.storeErrors.WithLabelValues(f.Name).Inc()
		r.log.LogAttrs(ctx, slog.LevelWarn, "storing the progress failed; the next run tries again",
			slog.String("source", f.Name), slog.Any("error", err))
	}
}

// noteNewest updates the time of the newest stored reading. A zero time has no effect.
func (r *Runner) noteNewest(f *feedRun, at time.Time) {
	if at.After(f.newest) {
		f.newest = at
		r.metrics.newest.WithLabelValues(f.Name).Set(float64(at.Unix()))
	}
}

// noteWatermark sets the metrics of the watermark and the partitions. It counts and logs a watermark of the source or a
// partition that is more than clockSkew in the future. The plan treats a watermark in the future as the present time.
func (r *Runner) noteWatermark(ctx context.Context, f *feedRun, now time.Time) {
	mark := f.plan.watermark
	for _, state := range f.partitions.states {
		mark = later(mark, state.Watermark)
	}
	if mark.After(now.Add(clockSkew)) {
		r.metrics.ahead.WithLabelValues(f.Name).Inc()
		r.log.WarnContext(ctx, "the watermark is in the future; fetching from now", "source", f.Name, "watermark", mark)
	}
	if !f.plan.watermark.IsZero() {
		r.metrics.watermark.WithLabelValues(f.Name).Set(float64(f.plan.watermark.Unix()))
	}
	r.metrics.partitions.WithLabelValues(f.Name).Set(float64(len(f.partitions.states)))
	r.metrics.failing.WithLabelValues(f.Name).Set(float64(f.partitions.failing()))
}

// clockSkew is how far a watermark may be ahead of the clock. Instances use NTP, so five minutes are generous.
const clockSkew = 5 * time.Minute
