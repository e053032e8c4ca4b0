package events

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"vayu/schema"
)

// Events begin at their rate, however long each commit takes.
func TestEventsAreFiredAtTheirRate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var mu sync.Mutex
		at := map[int64]time.Duration{}
		counts := &eventCounts{}
		err := fireOptions{count: 300, rate: 200}.fire(t.Context(), counts, func(_ context.Context, n int64) error {
			mu.Lock()
			at[n] = time.Since(began)
			mu.Unlock()
			time.Sleep(time.Second)
			return nil
		})
		if err != nil || counts.String() != "committed 300 events" || time.Since(began) != 299*5*time.Millisecond+time.Second {
			t.Errorf("got %v, %s after %s", err, counts, time.Since(began))
		}
		for n, got := range at {
			if want := time.Duration(n-1) * 5 * time.Millisecond; got.Round(time.Microsecond) != want {
				t.Errorf("event %d began after %s, want %s", n, got, want)
			}
		}
	})
}

// When a commit fails, fire waits for those in flight, and counts each outcome.
func TestFailingStoreEndsFire(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		errUnavailable := schema.Unavailable("Away.", errors.New("disk full"))
		var begun atomic.Int64
		counts := &eventCounts{}
		err := fireOptions{rate: 100}.fire(t.Context(), counts, func(ctx context.Context, n int64) error {
			begun.Add(1)
			time.Sleep(45 * time.Millisecond)
			switch n {
			case 10:
				return errUnavailable
			case 11:
				<-ctx.Done() // a queued commit
				return ctx.Err()
			}
			return nil
		})
		want := "committed 12 events; the outcome of 1 more is unknown, because the store failed"
		if !errors.Is(err, errUnavailable) || counts.String() != want || begun.Load() != 14 {
			t.Errorf("got %v, %s of %d, want %s", err, counts, begun.Load(), want)
		}
	})
}
