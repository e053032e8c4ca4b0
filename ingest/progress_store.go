package ingest

import (
	"context"
	"errors"
)

// ErrRevised means that an operator has changed the progress of a source since it was loaded.
var ErrRevised = errors.New("the progress was changed by a command")

// ProgressStore keeps how far sources are fetched, normally in the state store. Calls come from several goroutines.
type ProgressStore interface {
	// Load returns the progress of a feed. changed is false, and p is empty, if the progress still has the given revision.
	Load(ctx context.Context, feed string, revision int64) (p Progress, changed bool, err error)
	// Save stores the progress of a feed. Partitions has only those that have changed. If the stored progress has another
	// revision than p, Save stores nothing and returns [ErrRevised].
	Save(ctx context.Context, feed string, p Progress) error
}

// MemoryProgress is a [ProgressStore] that stores nothing, so that progress ends with the process.
type MemoryProgress struct{}

// Load implements [ProgressStore].
func (MemoryProgress) Load(context.Context, string, int64) (Progress, bool, error) {
	return Progress{}, false, nil
}

// Save implements [ProgressStore].
func (MemoryProgress) Save(context.Context, string, Progress) error { return nil }
