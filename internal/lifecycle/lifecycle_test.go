package lifecycle_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/lifecycle"
)

// journal records events in order.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (d *journal) note(line string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, line)
}

func (d *journal) read() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return strings.Join(d.lines, " ")
}

// worker is a part that takes warm to become ready and wind to stop.
func (d *journal) worker(name string, warm, wind time.Duration) lifecycle.Part {
	return lifecycle.Part{
		Name: name,
		Run: func(ctx context.Context) error {
			d.note("+" + name)
			<-ctx.Done()
			time.Sleep(wind)
			d.note("-" + name)
			return ctx.Err()
		},
		Ready: func(ctx context.Context) error {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(warm):
				d.note("ready:" + name)
				return nil
			}
		},
	}
}

var errBroken = errors.New("broken")

func TestStartsInOrderAndStopsInReverse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var d journal
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := lifecycle.Run(ctx, slog.New(slog.DiscardHandler),
			d.worker("engine", 3*time.Second, time.Second),
			d.worker("ingest", time.Second, 2*time.Second),
			d.worker("api", time.Second, time.Second))
		if err != nil {
			t.Errorf("Parts: %v", err)
		}
		want := "+engine ready:engine +ingest ready:ingest +api ready:api -api -ingest -engine"
		if diff := cmp.Diff(want, d.read()); diff != "" {
			t.Errorf("order (-want +got):\n%s", diff)
		}
	})
}

func TestFailureOfOnePartStopsAll(t *testing.T) {
	t.Parallel()
	failing := func(err error) func(context.Context) error {
		return func(context.Context) error { time.Sleep(5 * time.Second); return err }
	}
	cases := map[string]struct {
		part lifecycle.Part
		want string
	}{
		"an error":      {lifecycle.Part{Run: failing(errBroken)}, "bad: broken"},
		"an early end":  {lifecycle.Part{Run: failing(nil)}, "bad: ended before it was stopped"},
		"a panic":       {lifecycle.Part{Run: func(context.Context) error { panic("oh") }}, "bad: panic: oh"},
		"a goexit":      {lifecycle.Part{Run: func(context.Context) error { runtime.Goexit(); return nil }}, "bad: its goroutine exited"},
		"own canceling": {lifecycle.Part{Run: failing(context.Canceled)}, "bad: context canceled"},
		"not ready": {
			lifecycle.Part{Run: untilDone, Ready: failing(errBroken)}, "starting bad: broken",
		},
		"panic in ready": {
			lifecycle.Part{Run: untilDone, Ready: func(context.Context) error { panic("oh") }}, "starting bad: panic: oh",
		},
		"failure while getting ready": {
			lifecycle.Part{Run: failing(errBroken), Ready: untilDone}, "bad: broken",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var d journal
				c.part.Name = "bad"
				err := lifecycle.Run(t.Context(), slog.New(slog.DiscardHandler),
					d.worker("engine", 0, 0), c.part, d.worker("api", time.Hour, 0))
				if err == nil || err.Error() != c.want {
					t.Errorf("Parts = %v, want %q", err, c.want)
				}
				if got := d.read(); !strings.HasSuffix(got, "-engine") {
					t.Errorf("the engine was not stopped last: %s", got)
				}
			})
		})
	}
}

func untilDone(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

func TestErrorWrapsFailureOfPart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		err := lifecycle.Run(t.Context(), slog.New(slog.DiscardHandler),
			lifecycle.Part{Name: "bad", Run: func(context.Context) error { return errBroken }})
		if !errors.Is(err, errBroken) {
			t.Errorf("errors.Is(%v, errBroken) = false", err)
		}
	})
}

func TestDrainIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var d journal
		stuck := d.worker("stuck", 0, time.Minute)
		stuck.Drain = 3 * time.Second
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun := time.Now()
		err := lifecycle.Run(ctx, slog.New(slog.DiscardHandler), d.worker("engine", 0, 0), stuck)
		if !errors.Is(err, lifecycle.ErrDrain) || !strings.Contains(err.Error(), "stuck: ") {
			t.Errorf("Parts = %v, want ErrDrain of stuck", err)
		}
		if got, want := time.Since(begun), 4*time.Second; got != want {
			t.Errorf("stopped after %s, want %s", got, want)
		}
		if got := d.read(); !strings.HasSuffix(got, "-engine") {
			t.Errorf("the engine was not stopped: %s", got)
		}
		time.Sleep(time.Minute) // lets the stuck part end inside the bubble
	})
}

func TestStopDuringStartStopsStartedParts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var d journal
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		err := lifecycle.Run(ctx, slog.New(slog.DiscardHandler),
			d.worker("engine", time.Second, 0), d.worker("slow", time.Hour, 0), d.worker("api", 0, 0))
		if err != nil {
			t.Errorf("Parts: %v", err)
		}
		if diff := cmp.Diff("+engine ready:engine +slow -slow -engine", d.read()); diff != "" {
			t.Errorf("order (-want +got):\n%s", diff)
		}
	})
}

func TestPanicLogsTheStack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		log := slog.New(slog.NewTextHandler(&out, nil))
		err := lifecycle.Run(t.Context(), log, lifecycle.Part{Name: "bad", Run: func(context.Context) error { panic("oh") }})
		if err == nil || strings.Contains(err.Error(), "goroutine") {
			t.Errorf("Parts = %v, want an error without a stack", err)
		}
		if got := out.String(); !strings.Contains(got, "part=bad") || !strings.Contains(got, "lifecycle_test.go") {
			t.Errorf("the log lacks the stack: %s", got)
		}
	})
}
