package subscription

import (
	"context"
	"time"

	"vayu/internal/failurelog"
	"vayu/internal/tablecache"
)

const (
	// maxAge is the maximum age of the last refresh. If the last refresh is older, Fresh refreshes the cache.
	maxAge = 200 * time.Millisecond
	// rotateDelay is the delay between the commit of a rotation and the reply to the client. It is the sum of maxAge and
	// the 100 ms for which an instance may sign after a call of Fresh. So after the delay, every instance signs with the
	// new secret.
	rotateDelay = 300 * time.Millisecond
)

func (cache *Cache) newFollower() *tablecache.Follower {
	failures := func(doing, meanwhile string) *failurelog.Log {
		return failurelog.New(cache.Log, "webhooks: the state store", doing, meanwhile, nil)
	}
	return tablecache.New(tablecache.Config{
		Name: "subscriptions", Load: cache.read, Failures: cache.metrics.refreshFailures, Now: cache.Now, Timeout: cache.Timeout,
		Loading:    failures("reading subscriptions for the first time", "nothing is delivered"),
		Refreshing: failures("looking for changed subscriptions", "nothing is signed"),
	})
}

// Fresh refreshes the cache if the last refresh is older than maxAge. It fails after Config.Timeout. After an error the
// caller must not sign, because a cached secret may have been rotated. After success the caller may sign with the
// cached secrets for 100 ms.
func (cache *Cache) Fresh(ctx context.Context) error { return cache.follower.Fresh(ctx, maxAge) }
