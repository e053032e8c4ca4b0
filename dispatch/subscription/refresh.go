package subscription

import (
	"context"
	"time"

	"vayu/internal/failurelog"
	"vayu/internal/tablecache"
	"vayu/schema"
)

const (
	// maxAge is the maximum age of a cache from which an instance signs.
	maxAge = 200 * time.Millisecond
	// rotateDelay is the delay between the commit of a rotation and its reply. By then each
	// instance signs from a newer cache: an instance uses a cache for up to 100 ms after it has
	// checked its age.
	rotateDelay = 300 * time.Millisecond
)

// deletedKept is how long a deleted subscription stays in the cache. Attempts take at most
// 5 s, and its deliveries are soon cancelled.
const deletedKept = 5 * time.Minute

// newFollower returns the part that refreshes the cache.
func (b *Cache) newFollower() *tablecache.Follower {
	failures := func(doing, meanwhile string) *failurelog.Log {
		return failurelog.New(b.Log, "webhooks: the state store", doing, meanwhile, nil)
	}
	return tablecache.New(tablecache.Config{
		Name: "subscriptions", Load: b.read, Failures: b.metrics.refreshFailures, Now: b.Now,
		Loading:    failures("reading subscriptions for the first time", "nothing is delivered"),
		Refreshing: failures("looking for changed subscriptions", "nothing is signed"),
	})
}

// Refresh reads changes into the cache now, within two seconds. So a change by this process takes
// effect in this process at once. Other instances read it at their next refresh or attempt.
func (b *Cache) Refresh(ctx context.Context) error { return b.follower.Refresh(ctx) }

// Fresh refreshes the cache if it is older than maxAge, within two seconds. After an error nothing
// may be signed. A signature more than 100 ms later needs another call of Fresh.
func (b *Cache) Fresh(ctx context.Context) error { return b.follower.Fresh(ctx, maxAge) }

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
			r.generation.byID.Delete(d.id)
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
