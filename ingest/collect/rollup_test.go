package collect

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// rollUps notes the roll-ups of a bubble.
type rollUps struct {
	began  time.Time
	times  []time.Duration
	fail   func(n int) error // nil for none
	length time.Duration
	change time.Duration // when another instance has stored a reading; 0 for never
}

func (r *rollUps) start(ctx context.Context) (*scheduler, func()) {
	r.began = time.Now()
	ctx, cancel := context.WithCancel(ctx)
	one := newScheduler(World{
		RollUp: func(context.Context) error {
			r.times = append(r.times, time.Since(r.began))
			time.Sleep(r.length)
			if r.fail != nil {
				return r.fail(len(r.times))
			}
			return nil
		},
		Stored: func(context.Context) (stored Stored, _ error) {
			if r.change > 0 && time.Since(r.began) > r.change {
				stored = Stored{Newest: 1, Count: 1}
			}
			return stored, nil
		},
	}, slog.New(slog.DiscardHandler))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		one.run(ctx)
	}()
	synctest.Wait()
	return one, func() { cancel(); <-ended }
}

func (r *rollUps) want(t *testing.T, want ...time.Duration) {
	t.Helper()
	if diff := cmp.Diff(want, r.times); diff != "" {
		t.Errorf("roll-ups (-want +got):\n%s", diff)
	}
}

func TestRollUpFollowsReadings(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := rollUps{change: 2*time.Minute + time.Second}
		one, stop := r.start(t.Context())
		time.Sleep(time.Minute)
		one.changed(t.Context(), false) // of this instance
		time.Sleep(2*time.Minute + time.Second)
		stop()
		r.want(t, 0, time.Minute, 2*time.Minute+3*time.Second)
	})
}

func TestFailedRollUpIsRetried(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func() error{
		"error": func() error { return errors.New("too much memory") },
		"panic": func() error { panic("nil map") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var r rollUps
				r.fail = func(n int) error {
					if n < 4 {
						return fail()
					}
					return nil
				}
				_, stop := r.start(t.Context())
				time.Sleep(time.Hour)
				stop()
				r.want(t, 0, 5*time.Second, 15*time.Second, 35*time.Second)
			})
		})
	}
}

// A backfill waits for the roll-up that includes its readings, on the leader.
func TestBackfillWaitsForRollUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := rollUps{length: 10 * time.Second}
		one, stop := r.start(t.Context())
		time.Sleep(time.Second)
		one.changed(t.Context(), true) // during a roll-up, which may not include the readings
		if got := time.Since(r.began); got != 20*time.Second {
			t.Errorf("waited until %s, want the end of the next roll-up after 20 s", got)
		}
		stop()
		one.changed(t.Context(), true) // another instance leads
		if got := time.Since(r.began); got != 20*time.Second {
			t.Errorf("waited until %s without being the leader", got)
		}
	})
}
