// Package sleep waits for a while, or until nobody wants it any more.
package sleep

import (
	"context"
	"time"
)

// For waits for d. It is false when ctx has ended before; a pause of nothing is
// over at once.
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
