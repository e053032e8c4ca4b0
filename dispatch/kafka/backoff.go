package kafka

import (
	"context"
	"time"

	"vayu/internal/sleep"
)

// backoff is a pause that doubles up to retryMost.
type backoff struct{ next time.Duration }

func newBackoff(first time.Duration) *backoff { return &backoff{first} }

// wait pauses. It is false when ctx ends first.
func (b *backoff) wait(ctx context.Context) bool {
	d := b.next
	b.next = min(2*b.next, retryMost)
	return sleep.For(ctx, d)
}
