package collect

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"vayu/internal/leader"
	"vayu/internal/panics"
	"vayu/internal/sleep"
)

const (
	// pollInterval is how often the leader checks whether other instances have stored readings.
	pollInterval = 3 * time.Second
	// Limits of the backoff after a failed roll-up.
	firstRetry   = 5 * time.Second
	longestRetry = 2 * time.Minute
)

// Stored describes the readings that were stored in the last minutes. If two descriptions are equal, no readings were
// stored between them.
type Stored struct {
	Newest int64 // when the latest reading was stored, Unix milliseconds; 0 for none
	Count  uint64
}

// after reports whether readings were stored between the earlier description and s.
func (s Stored) after(earlier Stored) bool {
	return s.Newest > earlier.Newest || s.Count > earlier.Count
}

// scheduler rolls up the readings of one world while this instance is the leader.
type scheduler struct {
	world World
	log   *slog.Logger
	wake  chan struct{} // has a value if this instance has stored new readings

	mu   sync.Mutex
	next chan struct{} // closed when the roll-up that begins next has ended; nil on a standby
}

// leadRollUp rolls up the readings of all worlds until ctx ends.
func (c *Collector) leadRollUp(ctx context.Context, _ leader.Fence) error {
	var g errgroup.Group
	for _, one := range c.rollUps {
		g.Go(func() error {
			one.run(ctx)
			return nil
		})
	}
	return g.Wait()
}

func newScheduler(w World, log *slog.Logger) *scheduler {
	return &scheduler{world: w, log: log, wake: make(chan struct{}, 1)}
}

// changed wakes the roll-up of new readings. If `wait` is true, changed on the leader waits until the next roll-up has
// ended. Backfill runs of a feed set `wait`, so that they store readings no faster than the roll-up processes them.
func (r *scheduler) changed(ctx context.Context, wait bool) {
	r.mu.Lock()
	done := r.next
	r.mu.Unlock()
	select {
	case r.wake <- struct{}{}:
	default:
	}
	if !wait || done == nil {
		return
	}
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// run rolls up after new readings until ctx ends. It begins with a roll-up, because an earlier leader may have left
// readings without one.
func (r *scheduler) run(ctx context.Context) {
	done := make(chan struct{})
	r.setNext(done)
	defer func() {
		r.setNext(nil)
		close(done)
	}()
	var last Stored
	for failures := 0; ctx.Err() == nil; {
		following := make(chan struct{})
		r.setNext(following) // this roll-up may miss readings that are stored from here on
		found, err := r.rollUp(ctx)
		close(done)
		done = following
		if err == nil {
			last, failures = found, 0
			r.await(ctx, last)
			continue
		}
		if ctx.Err() == nil {
			r.log.WarnContext(ctx, "could not roll up readings; retrying", "error", err)
			sleep.For(ctx, sleep.Backoff(failures, firstRetry, longestRetry))
			failures++
		}
	}
}

func (r *scheduler) setNext(next chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next = next
}

// rollUp makes one roll-up. It returns the description of the readings that were stored before the roll-up began.
func (r *scheduler) rollUp(ctx context.Context) (Stored, error) {
	found, err := r.world.Stored(ctx)
	if err != nil {
		return found, err
	}
	err = panics.Catch(func() error { return r.world.RollUp(ctx) })
	if panicked, ok := errors.AsType[*panics.Error](err); ok {
		r.log.LogAttrs(ctx, slog.LevelError, "panic", slog.String("part", "roll-up"),
			slog.Any("panic", panicked.Value), slog.String("stack", string(panicked.Stack)))
	}
	return found, err
}

// await returns when readings were stored after the description `last`, when a check for them fails, or when ctx ends.
func (r *scheduler) await(ctx context.Context, last Stored) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.wake:
			return
		case <-time.After(pollInterval):
		}
		found, err := r.world.Stored(ctx)
		if err != nil || found.after(last) { // after an error, rollUp calls Stored again and returns its error
			return
		}
	}
}
