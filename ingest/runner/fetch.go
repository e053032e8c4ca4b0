package runner

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/sony/gobreaker/v2"

	"vayu/ingest"
	"vayu/internal/panics"
	"vayu/internal/sleep"
)

// inFlight is the number of batches that are buffered between parsing and storing. Parsing and storing hold one more
// batch each. Four batches take about 64 MB of memory, and keep two cores busy.
const inFlight = 2

// fetch first stores the batches that an earlier run left unstored, and then fetches the window of the run. It sets the
// counts of the run. It extends run.Window so that it contains the windows of the run's partitions.
func (r *Runner) fetch(ctx context.Context, f *feedRun, kind runKind, run *ingest.Run) error {
	w := run.Window
	var received ingest.Recorder
	defer func() { run.Received, run.Fingerprint = received.Received(), received.Fingerprint() }()
	limited, cancel := context.WithTimeoutCause(ingest.WithRecorder(ctx, &received), f.Timeout, errTimeout)
	defer cancel()
	load := r.load(ctx, run)
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

// callThroughBreaker calls the function `fetch` if the circuit breaker permits it. A half-open breaker permits only
// live runs. Only live runs can open the breaker, so that a failing backfill does not stop live runs.
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

// transfer fetches a window and stores its batches in order. It parses the next batch while it stores the previous one.
// After each acknowledged batch it calls `stored`, always from one goroutine, and then releases the batch. If `load` or
// `stored` fails for a batch, `left` has this batch and those fetched after it, in order. The caller owns them.
func transfer(ctx context.Context, src ingest.Source, w ingest.Window, load, stored func(context.Context, *ingest.Batch) error) (left []*ingest.Batch, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	batches := make(chan *ingest.Batch, inFlight)
	done := make(chan error, 1)
	go func() {
		var err error
		for b := range batches {
			if err == nil {
				err = storeOne(ctx, b, load, stored)
			}
			if err == nil {
				b.Release()
				continue
			}
			left = append(left, b)
			cancel(err) // cancels the fetch
		}
		done <- err
	}()
	fetchErr := panics.Catch(func() error {
		return src.Fetch(ctx, w, func(b *ingest.Batch) error {
			select {
			case batches <- b:
				return nil
			case <-ctx.Done():
				b.Release()
				return context.Cause(ctx)
			}
		})
	})
	close(batches)
	if storeErr := <-done; storeErr != nil {
		return left, storeErr // the failed store has cancelled the fetch
	}
	return nil, fetchErr
}

func storeOne(ctx context.Context, b *ingest.Batch, load, stored func(context.Context, *ingest.Batch) error) error {
	return panics.Catch(func() error {
		if err := load(ctx, b); err != nil {
			return &StoreError{err}
		}
		return stored(ctx, b)
	})
}

// storeRetryDelays are the delays between the attempts to load a batch. Their sum is 31 s, longer than a restart of
// ClickHouse. If all attempts fail, the run fails.
var storeRetryDelays = [...]time.Duration{
	time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second,
}

// load returns a function that stores batches of a run with retries. It counts and logs failed attempts.
func (r *Runner) load(ctx context.Context, run *ingest.Run) func(context.Context, *ingest.Batch) error {
	return loadWithRetry(&runStore{r.archive, run.ID}, func(err error) {
		r.metrics.storeErrors.WithLabelValues(run.Source).Inc()
		r.log.WarnContext(ctx, "storing a batch failed, retrying", "source", run.Source, "error", err)
	})
}

// loadWithRetry returns a function that calls [Store.Load] with retries. After each failed attempt it calls `failed`.
func loadWithRetry(store Store, failed func(error)) func(context.Context, *ingest.Batch) error {
	return func(ctx context.Context, b *ingest.Batch) error {
		for try := 0; ; try++ {
			err := store.Load(ctx, b)
			if err == nil || ctx.Err() != nil {
				return err
			}
			failed(err)
			if try == len(storeRetryDelays) {
				return err
			}
			if !sleep.For(ctx, storeRetryDelays[try]) {
				return errors.Join(err, context.Cause(ctx))
			}
		}
	}
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
