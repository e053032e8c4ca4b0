package topic

import (
	"context"
	"time"

	"vayu/internal/sleep"
)

// backoff delays retries. `first` is the first delay. Each failure doubles the delay, up to maxRetry.
type backoff struct {
	first    time.Duration
	failures int
}

func newBackoff(first time.Duration) *backoff { return &backoff{first: first} }

// wait sleeps for the next delay. It returns false if ctx ends before the delay.
func (b *backoff) wait(ctx context.Context) bool {
	d := sleep.Backoff(b.failures, b.first, maxRetry)
	b.failures++
	return sleep.For(ctx, d)
}
