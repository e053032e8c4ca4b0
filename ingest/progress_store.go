package ingest

import (
	"context"
	"errors"
)

// ErrRevised means that an operator has changed the progress of a source since this process loaded it.
var ErrRevised = errors.New("the progress was changed by a command")

// ProgressStore keeps the progress of sources, normally in the state store. It is safe for concurrent use.
type ProgressStore interface {
	// Load returns the progress of a feed if its revision differs from the given one. Otherwise `changed` is false and
	// p is empty.
	Load(ctx context.Context, feed string, revision int64) (p Progress, changed bool, err error)
	// Save stores the progress of a feed. p.Partitions has only the changed partitions. If the stored revision differs
	// from p.Revision, Save stores nothing and returns [ErrRevised].
	Save(ctx context.Context, feed string, p Progress) error
}

// MemoryProgress is a [ProgressStore] that stores nothing. A runner with a MemoryProgress has its progress in memory
// only.
type MemoryProgress struct{}

// Load implements [ProgressStore].
func (MemoryProgress) Load(context.Context, string, int64) (Progress, bool, error) {
	return Progress{}, false, nil
}

// Save implements [ProgressStore].
func (MemoryProgress) Save(context.Context, string, Progress) error { return nil }
