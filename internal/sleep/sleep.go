// Package sleep pauses for a duration or until a context ends, and computes pauses between attempts.
package sleep

import (
	"context"
	"time"
)

// For pauses for d. It returns false if ctx ends first, or has ended. If d is not positive, For returns at once.
func For(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Every calls `do` once per period until ctx ends. The first call is after one period.
func Every(ctx context.Context, period time.Duration, do func(context.Context)) {
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for ctx.Err() == nil {
		select {
		case <-ticker.C:
			do(ctx)
		case <-ctx.Done():
		}
	}
}

// Repeat calls `do` at once, and then once per period as [Every] does, until ctx ends.
func Repeat(ctx context.Context, period time.Duration, do func(context.Context)) {
	do(ctx)
	Every(ctx, period, do)
}

// Backoff returns the pause after consecutive failures: first × 2^failures, at most first × 2^20 and at most longest.
func Backoff(failures int, first, longest time.Duration) time.Duration {
	const doublings = 20 // 34 doublings of a second overflow
	return min(first<<min(failures, doublings), longest)
}
