// Package subscription is who wants to be told what: the subscriptions of all
// accounts, in the store and in memory, and the endpoints that change them.
package subscription

import (
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
	"vayu/schema"
)

// Config is what a Book is made of.
type Config struct {
	DB  *sqlstore.DB
	Box *encryption.Box
	// Change makes handlers of changes: access.Service.Change.
	Change func(access.Changer) httpapi.Handler
	// Check judges URLs: guard.Guard.Check.
	Check func(url string) (*url.URL, error)
	// Test stores a test event and its one delivery: the event's and the
	// delivery's id.
	Test func(tx *sqlstore.Tx, s *Subscription, event schema.EventType) (eventID, deliveryID string, err error)
	// Limits are how many subscriptions an account may have.
	Limits  Limits
	Log     *slog.Logger          // nil for none
	Metrics prometheus.Registerer // nil for none
	// Now is the clock; nil for time.Now.
	Now func() time.Time
}

// Limits are how many subscriptions an account may have. An account that has more keeps
// them; it can make none.
type Limits struct {
	Sandbox int            // 0 for Most
	Plans   map[string]int // in the live world; nil for Most
	Others  int            // of a plan that is not in Plans
}

// of is the limit of an account of a plan in a world.
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

// Subscription is a subscription as it is in the store. It is never changed: a
// new one takes its place.
type Subscription struct {
	ID      string
	Account string
	World   schema.World
	URL     string
	Host    string             // of the URL, with its port, in lower case
	Events  []schema.EventType // in the order of schema.EventTypes
	Active  bool               // false: paused, deliveries wait
	Deleted bool
	Version string
	// ClearNumbers sends recharge.* events with numbers in clear.
	ClearNumbers bool

	createdAt int64 // microseconds
	// secrets are the one that signs, and the one before it if there was a
	// rotation with a grace; none when it cannot be opened.
	secrets       []string
	previousUntil int64 // microseconds
	unreadable    bool  // a secret in the store cannot be opened
	revision      int64
}

// Saw reports whether it was there when something happened. An event may come a month
// later: from a topic that is read once more, or by a replay.
func (s *Subscription) Saw(at time.Time) bool {
	return s.createdAt <= at.Add(schema.WebhookClockMargin).UnixMicro()
}

// Secrets are what signs an attempt at a time, the newest first. There is none
// for a subscription that is deleted, or whose secret cannot be opened: then no
// attempt may be made, and its deliveries wait. The caller must not change them.
func (s *Subscription) Secrets(now time.Time) []string {
	if len(s.secrets) > 1 && now.UnixMicro() >= s.previousUntil {
		return s.secrets[:1]
	}
	return s.secrets
}

// owner is whose subscription it is.
func (s *Subscription) owner() schema.Owner { return schema.Owner{Account: s.Account, World: s.World} }

// Book holds every subscription in memory, and follows the store.
type Book struct {
	Config

	now      atomic.Pointer[Snapshot]
	looking  chan struct{}             // holds one token during a look at the store
	lookedAt atomic.Pointer[time.Time] // the begin of the last look that succeeded
	made     time.Time
	gone     []departed // deleted subscriptions that are still in memory; of who looks
	metrics  *metrics
	known    chan struct{} // closed when the subscriptions are known
	most     time.Duration // of one question to the store
}

// New returns an empty book. It fails when a metric is registered already.
func New(c Config) (*Book, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	b := &Book{Config: c, looking: make(chan struct{}, 1), made: c.Now(), known: make(chan struct{}), most: lookMost}
	b.now.Store(&Snapshot{revision: unread})
	var err error
	if b.metrics, err = newMetrics(b, c.Metrics); err != nil {
		return nil, err
	}
	return b, nil
}

// Run follows the store, and deletes rows that nobody needs any more, until ctx
// ends. It waits for a store that is away, and returns nil.
func (b *Book) Run(ctx context.Context) error {
	b.begin(ctx)
	var parts sync.WaitGroup
	parts.Go(func() { b.follow(ctx) })
	parts.Go(func() { b.purge(ctx) })
	parts.Wait()
	return nil
}

// Ready waits until the subscriptions are known.
func (b *Book) Ready(ctx context.Context) error {
	select {
	case <-b.known:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Snapshot returns the book as it is now.
func (b *Book) Snapshot() *Snapshot { return b.now.Load() }

// Get returns a subscription by its id, deleted ones too for some minutes; nil
// when there is none.
func (b *Book) Get(id string) *Subscription { return b.Snapshot().byID.get(id) }
