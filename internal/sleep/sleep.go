// Package sleep pauses for a duration or until a context ends.
package sleep

import (
	"context"
	"time"
)

// For pauses for d. It returns false when ctx ended before. A duration of zero or less
// returns at once.
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
