package tablecache

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/failurelog"
	"vayu/internal/sleep"
)

const (
	// Interval is the time between two refreshes. A change must be in the caches of all instances within a second. The
	// rest of the second is left for a slow query.
	Interval = 250 * time.Millisecond
	// Timeout is the default of Config.Timeout. If the store does not answer, a query ends after this time, and the
	// next refresh repeats the query.
	Timeout = 2 * time.Second
)

// Config configures a Follower.
type Config struct {
	// Name names the content of the cache in errors.
	Name string
	// Load applies the changes of the table to the cache. Calls never overlap. `began` is the time of the call. Load
	// must itself limit the time of its queries.
	Load func(ctx context.Context, began time.Time) error
	// Loading and Refreshing log the failures of the first load and of later refreshes.
	Loading, Refreshing *failurelog.Log
	Failures            prometheus.Counter
	Now                 func() time.Time
	// Timeout limits Refresh and Fresh. If it is 0, the constant Timeout applies.
	Timeout time.Duration
}

// Follower refreshes a cache of a table. It is safe for concurrent use.
type Follower struct {
	Config

	made        time.Time
	refreshing  chan struct{}             // mutex of refreshes, capacity one
	refreshedAt atomic.Pointer[time.Time] // start of the last successful refresh
	failing     atomic.Bool
	ready       chan struct{} // closed after the first load
}

// New returns a Follower of a cache that is not loaded yet.
func New(c Config) *Follower {
	if c.Timeout == 0 {
		c.Timeout = Timeout
	}
	return &Follower{Config: c, made: c.Now(), refreshing: make(chan struct{}, 1), ready: make(chan struct{})}
}

// Run retries the first load until it succeeds, and then refreshes the cache until ctx ends.
func (f *Follower) Run(ctx context.Context) {
	for loaded := false; !loaded; {
		err := f.refresh(ctx, f.Now())
		f.Loading.Observe(ctx, err)
		if loaded = err == nil; loaded {
			close(f.ready)
		} else if !sleep.For(ctx, Interval) {
			return
		}
	}
	sleep.Every(ctx, Interval, func(ctx context.Context) { f.Refreshing.Observe(ctx, f.refresh(ctx, f.Now())) })
}

// Ready waits until the first load by Run has succeeded.
func (f *Follower) Ready(ctx context.Context) error {
	select {
	case <-f.ready:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Refresh updates the cache with all changes that the table has now, within Timeout. A process calls Refresh after a
// change of the table. Other instances apply the change at their next refresh.
func (f *Follower) Refresh(ctx context.Context) error { return f.within(ctx, f.Now()) }

// Fresh refreshes the cache within Timeout, unless the last successful refresh began less than `maxAge` ago.
func (f *Follower) Fresh(ctx context.Context, maxAge time.Duration) error {
	since := f.Now().Add(-maxAge)
	if f.refreshedAfter(since) {
		return nil
	}
	return f.within(ctx, since)
}

// Failing reports whether the last refresh failed. It ignores refreshes that failed because their context ended.
func (f *Follower) Failing() bool { return f.failing.Load() }

// Age returns the time since the start of the last successful refresh, or since New.
func (f *Follower) Age() time.Duration {
	at := f.made
	if refreshed := f.refreshedAt.Load(); refreshed != nil {
		at = *refreshed
	}
	return f.Now().Sub(at)
}

// refreshedAfter reports whether a successful refresh started later than `since`. It ignores a refresh that
// started in the future, which happens after the clock was set back.
func (f *Follower) refreshedAfter(since time.Time) bool {
	at := f.refreshedAt.Load()
	return at != nil && at.After(since) && !at.After(f.Now())
}

func (f *Follower) within(ctx context.Context, since time.Time) error {
	limit, done := context.WithTimeout(ctx, f.Timeout)
	defer done()
	return f.observe(ctx, f.load(limit, since))
}

func (f *Follower) refresh(ctx context.Context, since time.Time) error {
	return f.observe(ctx, f.load(ctx, since))
}

// observe records whether a refresh failed, and adds the name of the cache to the error. It does not record an error
// after the end of ctx, because the store may be available.
func (f *Follower) observe(ctx context.Context, err error) error {
	if err == nil {
		f.failing.Store(false)
		return nil
	}
	if ctx.Err() == nil {
		f.failing.Store(true)
		f.Failures.Inc()
	}
	return fmt.Errorf("refreshing %s: %w", f.Name, err)
}

// load waits for a refresh in progress. Then it calls Load, unless a successful refresh started later than `since`.
func (f *Follower) load(ctx context.Context, since time.Time) error {
	select {
	case f.refreshing <- struct{}{}:
		defer func() { <-f.refreshing }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if f.refreshedAfter(since) {
		return nil
	}
	began := f.Now()
	if err := f.Load(ctx, began); err != nil {
		return err
	}
	f.refreshedAt.Store(&began)
	return nil
}
