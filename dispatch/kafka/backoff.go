package kafka

import (
	"context"
	"time"

	"vayu/internal/sleep"
)

// backoff is the delay before the next retry. It doubles up to maxRetry.
type backoff struct{ next time.Duration }

func newBackoff(first time.Duration) *backoff { return &backoff{first} }

// wait sleeps for the next delay. It returns false if ctx ends first.
func (b *backoff) wait(ctx context.Context) bool {
	d := b.next
	b.next = min(2*b.next, maxRetry)
	return sleep.For(ctx, d)
}
