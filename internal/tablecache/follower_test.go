package tablecache

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/failurelog"
)

// newFollower returns a follower of a table that load reads.
func newFollower(load func(ctx context.Context, began time.Time) error) *Follower {
	log := failurelog.New(slog.New(slog.DiscardHandler), "store", "reading", "nothing", nil)
	return New(Config{
		Name: "rows", Load: load, Loading: log, Refreshing: log, Now: time.Now,
		Failures: prometheus.NewCounter(prometheus.CounterOpts{Name: "failures_total", Help: "Failed reads."}),
	})
}

func TestRunRetriesAndRefreshes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var loads atomic.Int32
		failed := errors.New("away")
		f := newFollower(func(context.Context, time.Time) error {
			if loads.Add(1) < 3 {
				return failed
			}
			return nil
		})
		ctx, cancel := context.WithCancel(t.Context())
		go f.Run(ctx)
		synctest.Wait()
		if !f.Failing() || loads.Load() != 1 {
			t.Errorf("failing %v after %d loads, want a failure after the first", f.Failing(), loads.Load())
		}
		if err := f.Ready(ctx); err != nil {
			t.Error(err)
		}
		if f.Failing() || loads.Load() != 3 {
			t.Errorf("failing %v after %d loads, want success after the third", f.Failing(), loads.Load())
		}
		time.Sleep(10 * Interval)
		synctest.Wait()
		if loads.Load() != 13 {
			t.Errorf("%d loads, want one in each interval", loads.Load())
		}
		cancel()
		synctest.Wait()
	})
}

// A caller that waits for a load which hangs leaves with its own context.
func TestWaitForRefreshEndsWithContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFollower(func(ctx context.Context, _ time.Time) error {
			<-ctx.Done()
			return ctx.Err()
		})
		hanging, end := context.WithCancel(t.Context())
		go f.Run(hanging)
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- f.Refresh(ctx) }()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) || f.Failing() {
			t.Errorf("got %v, failing %v", err, f.Failing())
		}
		began := time.Now()
		if err := f.Refresh(t.Context()); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != Timeout {
			t.Errorf("got %v after %s, want the timeout", err, time.Since(began))
		}
		limit, done := context.WithTimeout(t.Context(), 0)
		defer done()
		if err := f.Ready(limit); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Ready of an empty cache: %v", err)
		}
		end()
		synctest.Wait()
	})
}

// One load serves all callers that requested it before it began.
func TestConcurrentRefreshesAreShared(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var loads atomic.Int32
		f := newFollower(func(context.Context, time.Time) error {
			loads.Add(1)
			time.Sleep(Timeout / 3)
			return nil
		})
		for range 5 {
			go func() {
				if err := f.Refresh(t.Context()); err != nil {
					t.Error(err)
				}
			}()
		}
		time.Sleep(10 * time.Second)
		if loads.Load() != 2 { // the second begins after all have requested it
			t.Errorf("%d loads, want 2", loads.Load())
		}
	})
}

func TestFreshRefreshesOldCache(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		loads := 0
		f := newFollower(func(context.Context, time.Time) error { loads++; return nil })
		for _, want := range []int{1, 1, 2} {
			if err := f.Fresh(t.Context(), time.Minute); err != nil || loads != want {
				t.Errorf("%d loads, %v; want %d", loads, err, want)
			}
			time.Sleep(40 * time.Second)
		}
		if f.Age() != 40*time.Second {
			t.Errorf("the cache is %s old", f.Age())
		}
	})
}
