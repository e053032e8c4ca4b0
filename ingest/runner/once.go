package runner

import (
	"context"
	"log/slog"
	"time"

	"vayu/ingest"
)

// Once is a run of a source outside its schedule.
type Once struct {
	Feed   Feed
	Kind   ingest.RunKind
	Window ingest.Window
	// Worker is the number of this worker, from 0. Workers is the number of workers that run concurrently. Two runs
	// that begin in the same microsecond get distinct ids from the numbers of their workers.
	Worker, Workers int
	// Stored is called after each stored batch, from one goroutine.
	Stored func(context.Context, *ingest.Batch) error
}

// Once fetches and stores a window. It counts and records the run unless ctx ends first. The returned run has the
// counts of the stored readings, even after an error.
func (r *Runner) Once(ctx context.Context, o Once) (ingest.Run, error) {
	begun := time.Now()
	run := ingest.Run{ID: o.id(begun), Source: o.Feed.Name, Kind: o.Kind, Window: o.Window, ConfigSHA256: o.Feed.ConfigSHA256}
	var recorder ingest.Recorder
	left, err := transfer(ingest.WithRecorder(ctx, &recorder), o.Feed.Source, o.Window, r.load(ctx, &run), func(ctx context.Context, b *ingest.Batch) error {
		r.metrics.batch(o.Feed.Name, b)
		run.Add(b)
		return o.Stored(ctx, b)
	})
	releaseAll(&left)
	run.Elapsed, run.Outcome = time.Since(begun), string(outcomeOf(err))
	run.Received, run.Fingerprint = recorder.Received(), recorder.Fingerprint()
	if ctx.Err() != nil {
		return run, err
	}
	if err != nil {
		run.Error = err.Error()
	}
	r.metrics.runs.WithLabelValues(o.Feed.Name, run.Outcome).Inc()
	limited, cancel := context.WithTimeout(ctx, recordTimeout)
	defer cancel()
	if failed := r.journal.Record(limited, []ingest.Run{run}); failed != nil {
		r.metrics.storeErrors.WithLabelValues(o.Feed.Name).Inc()
		r.log.LogAttrs(ctx, slog.LevelWarn, "recording a run failed", slog.String("source", o.Feed.Name), slog.Any("error", failed))
	}
	return run, err
}

// id returns the ID of the run that began at the given time. Its remainder modulo Workers is the number of the worker.
func (o *Once) id(begun time.Time) uint64 {
	workers := uint64(max(o.Workers, 1))
	id := ingest.NewRunID(begun)
	return id - id%workers + uint64(o.Worker)
}
