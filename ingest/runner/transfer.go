package runner

import (
	"context"
	"errors"
	"time"

	"vayu/ingest"
	"vayu/internal/panics"
	"vayu/internal/sleep"
)

// inFlight is the number of batches that are buffered between parsing and storing. Parsing and storing hold one more
// batch each. Four batches take about 64 MB of memory, and keep two cores busy.
const inFlight = 2

// Store writes batches of readings, normally to ClickHouse.
type Store interface {
	// Load stores a batch and returns nil once it is durable. It is idempotent, so the caller can repeat a failed call.
	// On success it may add to b.Rejected. It does not release the batch.
	Load(ctx context.Context, b *ingest.Batch) error
}

// Archive is a [Store] that also knows the time range of its readings.
type Archive interface {
	Store
	// Coverage returns the times of the first and the last stored reading of a source,
	// at or after the time `since`. Both are zero if no such reading exists.
	Coverage(ctx context.Context, source string, since time.Time) (first, last time.Time, err error)
}

// Journal records runs of sources, normally in ClickHouse.
type Journal interface {
	// Record stores runs with their rejected values. It is idempotent, so the caller can repeat a failed call. It is
	// safe for concurrent use.
	Record(ctx context.Context, runs []ingest.Run) error
}

// runStore stores batches with the ID of a run. A batch that an earlier run fetched keeps the ID of that run.
type runStore struct {
	Store

	run uint64
}

// Load implements [Store].
func (s *runStore) Load(ctx context.Context, b *ingest.Batch) error {
	if b.Run == 0 {
		b.Run = s.run
	}
	return s.Store.Load(ctx, b)
}

// StoreError is a failure of the store, not of the source.
type StoreError struct{ Err error }

// Error implements error.
func (e *StoreError) Error() string { return "storing a batch: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *StoreError) Unwrap() error { return e.Err }

// transfer fetches a window and stores its batches in order. It parses the next batch while it stores the previous one.
// After each acknowledged batch it calls stored, always from one goroutine, and then releases the batch. If storing
// fails, left has the fetched batches that are not stored, in order, and the caller owns them.
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

// loadWithRetry returns a function that calls [Store.Load] with retries. After each failed attempt it calls failed.
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
