package collect

import (
	"context"

	"vayu/ingest"
	"vayu/ingest/runner"
	"vayu/internal/leader"
)

// fencedArchive is an archive that stores readings only while this instance has the lease of the source.
type fencedArchive struct {
	runner.Archive

	fence leader.Fence // checks that this instance still has the lease
}

// Load stores a batch if this instance still has the lease. It overrides the method of [runner.Archive].
func (f *fencedArchive) Load(ctx context.Context, b *ingest.Batch) error {
	if err := f.fence(ctx); err != nil {
		return err
	}
	return f.Archive.Load(ctx, b)
}
