package subscription

import (
	"cmp"
	"context"
	"log/slog"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/access"
	"vayu/internal/encryption"
	"vayu/internal/httpapi"
	"vayu/internal/sqlstore"
	"vayu/internal/tablecache"
	"vayu/schema"
)

// Config configures a Cache.
type Config struct {
	DB     *sqlstore.DB
	Cipher *encryption.Cipher
	// Change is access.Service.Change. It returns a handler that runs a change and writes its audit entry in one
	// transaction.
	Change func(access.Changer) httpapi.Handler
	// Check is ssrf.Guard.Check. It validates the URL of a subscription.
	Check func(url string) (*url.URL, error)
	// Test stores a test event with one delivery, and returns the ids of both.
	Test func(tx *sqlstore.Tx, s *Subscription, event schema.EventType) (eventID, deliveryID string, err error)
	// Limits bound the number of subscriptions per account.
	Limits  Limits
	Log     *slog.Logger          // nil for none
	Metrics prometheus.Registerer // nil for none
	// Now is the clock; nil for time.Now.
	Now func() time.Time
	// Timeout limits a query of the store for the cache; 0 for [tablecache.Timeout].
	Timeout time.Duration
}

// Limits limit how many subscriptions an account can have. An account above its limit keeps its subscriptions but
// cannot create more.
type Limits struct {
	Sandbox int            // limit in the sandbox; 0 means Most
	Plans   map[string]int // limit in the live world by plan; nil means Most for all plans
	Others  int            // limit in the live world for a plan that is not in Plans
}

// The method `of` returns the limit for a world (live or sandbox) of an account with a given plan.
func (l Limits) of(plan string, world schema.World) int {
	switch most, known := l.Plans[plan]; {
	case world == schema.Sandbox && l.Sandbox > 0:
		return l.Sandbox
	case world == schema.Sandbox || l.Plans == nil:
		return Most
	case !known:
		return l.Others
	default:
		return most
	}
}

// Cache holds all subscriptions in memory and refreshes them from the store. It is safe
// for concurrent use.
type Cache struct {
	Config

	snapshot atomic.Pointer[Snapshot]
	follower *tablecache.Follower
	metrics  *metrics
}

// New returns an empty cache. It panics if a metric is already registered.
func New(c Config) *Cache {
	if c.Now == nil {
		c.Now = time.Now
	}
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	cache := &Cache{Config: c}
	cache.snapshot.Store(&Snapshot{revision: unread})
	cache.metrics = newMetrics(cache, c.Metrics)
	cache.follower = cache.newFollower()
	return cache
}

// Run refreshes the cache, and purges the rows of deleted subscriptions without deliveries, until ctx ends. It retries
// after errors of the store and returns nil.
func (cache *Cache) Run(ctx context.Context) error {
	var parts sync.WaitGroup
	parts.Go(func() { cache.follower.Run(ctx) })
	_ = cache.Ready(ctx) // an error means that ctx has ended, which also ends the purge
	parts.Go(func() { cache.purge(ctx) })
	parts.Wait()
	return nil
}

// Ready waits for the first refresh.
func (cache *Cache) Ready(ctx context.Context) error { return cache.follower.Ready(ctx) }

// Snapshot returns the current content of the cache.
func (cache *Cache) Snapshot() *Snapshot { return cache.snapshot.Load() }

// Get returns a subscription by id, or nil.
func (cache *Cache) Get(id string) *Subscription { return cache.Snapshot().byID.Get(id) }

// Refresh reads all changes into the cache now. It fails after Config.Timeout. A process calls it after its own
// changes, and before it matches events. Between these calls, the background refresh and Fresh update the cache.
func (cache *Cache) Refresh(ctx context.Context) error { return cache.follower.Refresh(ctx) }
