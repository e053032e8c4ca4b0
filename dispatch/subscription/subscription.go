// Package subscription is who wants to be told what: the subscriptions of all
// accounts, in the store and in memory, and the endpoints that change them.
package subscription

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/account"
	"vayu/internal/api"
	"vayu/internal/seal"
	"vayu/internal/state"
	"vayu/schema"
)

// Config is what a Book is made of.
type Config struct {
	DB  *state.DB
	Box *seal.Box
	// Change makes handlers of changes: account.Service.Change.
	Change func(account.Changer) api.Handler
	// Check judges URLs: guard.Guard.Check.
	Check func(url string) (*url.URL, error)
	// Test stores a test event and its one delivery: the event's and the
	// delivery's id.
	Test    func(tx *state.Tx, s *Subscription, event schema.EventType) (eventID, deliveryID string, err error)
	Log     *slog.Logger
	Metrics prometheus.Registerer
	Now     func() time.Time
}

// Subscription is a subscription as it is in the store. It is never changed: a
// new one takes its place.
type Subscription struct {
	ID      string
	Account string
	World   schema.World
	URL     string
	Events  []schema.EventType
	Active  bool
	Deleted bool
	Version string
}

// Secrets are what signs an attempt at a time, the newest first.
func (s *Subscription) Secrets(now time.Time) []string { panic("not written yet") }

// Book holds every subscription in memory, and follows the store.
type Book struct{ Config }

// New returns an empty book.
func New(c Config) (*Book, error) { panic("not written yet") }

// Run follows the store until ctx ends.
func (b *Book) Run(ctx context.Context) error { panic("not written yet") }

// Ready waits until the subscriptions are known.
func (b *Book) Ready(ctx context.Context) error { panic("not written yet") }

// Refresh looks at the store now.
func (b *Book) Refresh(ctx context.Context) error { panic("not written yet") }

// Fresh makes sure that the book is no older than other instances wait after a
// rotation, and looks at the store when it is. An error means that nothing must
// be signed now.
func (b *Book) Fresh(ctx context.Context) error { panic("not written yet") }

// ErrStale says that a subscription has changed since the book was read.
var ErrStale = errors.New("the book of subscriptions is older than the store")

// Snapshot is the book at one moment.
type Snapshot struct{}

// Snapshot returns the book as it is now.
func (b *Book) Snapshot() *Snapshot { panic("not written yet") }

// Matching is which subscriptions want an event; deleted ones do not, paused ones
// do. The caller must not change it.
func (s *Snapshot) Matching(account string, world schema.World, event schema.EventType) []*Subscription {
	panic("not written yet")
}

// Check fails with ErrStale, inside a transaction, unless the store is as the
// snapshot shows it.
func (s *Snapshot) Check(tx *state.Tx) error { panic("not written yet") }

// Get returns a subscription by its id, deleted ones too for a while; nil when
// there is none.
func (b *Book) Get(id string) *Subscription { panic("not written yet") }

// Routes are the endpoints under /v1/webhooks, but for those about deliveries.
func (b *Book) Routes() []api.Route { panic("not written yet") }
