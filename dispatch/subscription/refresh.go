package subscription

import (
	"context"
	"fmt"
	"time"

	"vayu/internal/failurelog"
	"vayu/internal/sleep"
	"vayu/schema"
)

const (
	refreshEvery = 250 * time.Millisecond
	// maxAge is the maximum age of a cache from which an instance signs.
	maxAge = 200 * time.Millisecond
	// rotateDelay is the delay between the commit of a rotation and its reply. By then each
	// instance signs from a newer cache, even 100 ms after it has checked the cache's age.
	rotateDelay = 300 * time.Millisecond
	// queryTimeout bounds a query when the store does not respond, and the wait of
	// Refresh and Fresh.
	queryTimeout = 2 * time.Second
)

// deletedKept is how long a deleted subscription stays in the cache. Attempts take at most
// 5 s, and its deliveries are soon cancelled.
const deletedKept = 5 * time.Minute

// loadFirst retries the first refresh until it succeeds.
func (b *Cache) loadFirst(ctx context.Context) {
	failures := failurelog.New(b.Log, "webhooks: the state store", "reading subscriptions for the first time", "nothing is delivered", nil)
	for ctx.Err() == nil {
		err := b.counted(ctx, b.refresh(ctx, b.Now()))
		failures.Observe(ctx, err)
		if err == nil {
			close(b.ready)
			return
		}
		sleep.For(ctx, refreshEvery)
	}
}

// refreshLoop refreshes the cache until ctx ends.
func (b *Cache) refreshLoop(ctx context.Context) {
	failures := failurelog.New(b.Log, "webhooks: the state store", "looking for changed subscriptions", "nothing is signed", nil)
	tick := time.NewTicker(refreshEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			failures.Observe(ctx, b.counted(ctx, b.refresh(ctx, b.Now())))
		case <-ctx.Done():
			return
		}
	}
}

// Refresh reads changes into the cache now, within two seconds. So a change by this process
// takes effect in it at once. Other instances read it at their next refresh or attempt.
func (b *Cache) Refresh(ctx context.Context) error { return b.within(ctx, b.Now()) }

// Fresh refreshes the cache if it is older than maxAge, within two seconds. After an error
// nothing may be signed. More than 100 ms later, a signature needs another call of Fresh.
func (b *Cache) Fresh(ctx context.Context) error {
	since := b.Now().Add(-maxAge)
	if b.refreshedAfter(since) {
		return nil
	}
	return b.within(ctx, since)
}

// refreshedAfter reports whether a successful refresh started after a time. A refresh in
// the future is ignored: the clock was set back.
func (b *Cache) refreshedAfter(since time.Time) bool {
	at := b.refreshedAt.Load()
	return at != nil && at.After(since) && !at.After(b.Now())
}

// within runs refresh with a timeout, and counts a failure.
func (b *Cache) within(ctx context.Context, since time.Time) error {
	limit, done := context.WithTimeout(ctx, b.queryTimeout)
	defer done()
	return b.counted(ctx, b.refresh(limit, since))
}

// counted counts a failed refresh, unless ctx has ended.
func (b *Cache) counted(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() == nil {
		b.metrics.refreshFailures.Inc()
	}
	return fmt.Errorf("looking at subscriptions: %w", err)
}

// refresh refreshes the cache, unless another goroutine has done so after since.
func (b *Cache) refresh(ctx context.Context, since time.Time) error {
	select {
	case b.refreshing <- struct{}{}:
		defer func() { <-b.refreshing }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if b.refreshedAfter(since) {
		return nil
	}
	began := b.Now() // the data is at least this new
	if err := b.read(ctx, began); err != nil {
		return err
	}
	b.refreshedAt.Store(&began)
	return nil
}

// read loads rows that are newer than the cache and drops subscriptions deleted long ago.
func (b *Cache) read(ctx context.Context, now time.Time) error {
	r := &reading{Cache: b, ctx: ctx, now: now, lists: map[string][]schema.EventType{}}
	revision, err := r.revision()
	if err != nil {
		return err
	}
	before := b.Snapshot()
	over := 0
	for over < len(b.deleted) && now.Sub(b.deleted[over].at) > deletedKept {
		over++
	}
	if revision == before.revision && over == 0 {
		return nil
	}
	// A lower revision means that the store was replaced.
	whole := revision < before.revision || before.revision == unread || revision-before.revision > maxDelta
	if whole {
		r.generation = newGeneration(nil)
		err = r.all()
	} else {
		r.generation = newGeneration(before)
		r.generation.deleted = b.deleted[over:]
		for _, d := range b.deleted[:over] {
			r.generation.byID.remove(d.id)
		}
		err = r.since(before.revision)
	}
	if err != nil {
		return err
	}
	b.deleted = r.generation.deleted
	b.snapshot.Store(r.generation.finish(revision))
	r.logUnreadable()
	return nil
}

// age returns the time since the last successful refresh, or since New.
func (b *Cache) age() time.Duration {
	at := b.made
	if looked := b.refreshedAt.Load(); looked != nil {
		at = *looked
	}
	return b.Now().Sub(at)
}
