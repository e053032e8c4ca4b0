package runner

import (
	"context"
	"time"

	"vayu/ingest"
)

// Store writes batches of readings, normally to ClickHouse.
type Store interface {
	// Load stores a batch and returns nil once it is durable. It is idempotent, so the caller can repeat a failed call.
	// On success it may add to b.Rejected. It does not release the batch.
	Load(ctx context.Context, b *ingest.Batch) error
}

// Archive is a [Store] that also returns the time range of its readings.
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
