// Package delivery stores deliveries and their attempts, and has the state machine of a delivery. No other package
// writes the tables "delivery" and "attempt".
package delivery

import (
	"cmp"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/dispatch/outbox"
	"vayu/dispatch/sender"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

// Row is a waiting delivery.
type Row struct {
	ID       string
	Webhook  string
	EventID  string
	Type     schema.EventType
	World    schema.World // live or sandbox
	Attempts int          // recorded attempts
	DueAt    time.Time    // due time of the next attempt; unlike due_at in the table, a lease does not change it
	Envelope []byte       // JSON of the event; shared and read-only
	Trace    string       // trace context of the event
	Happened time.Time    // creation of the event
}

// Draft is a delivery to store.
type Draft struct {
	Event   *outbox.Event
	Webhook string
	// Active means that the subscription is not paused. The dispatcher's queue uses Active; Insert does not.
	Active bool
	// Lease means that the storing instance leases the delivery. Otherwise the delivery is due now for any instance.
	Lease bool
}

// LaneClaim is a request to lease at most Limit due deliveries of a subscription.
type LaneClaim struct {
	Webhook string
	Limit   int
}

// Claimed is the result of a LaneClaim. Rows are the leased deliveries. Next is when to claim for the subscription
// again, possibly in the past. It is zero if no further delivery of the subscription waits.
type Claimed struct {
	Webhook string
	Rows    []Row
	Next    time.Time
}

// Outcome is an attempt with its result, and the transition of the delivery that it causes.
type Outcome struct {
	Row    *Row
	Token  string
	Result sender.Result
	Transition
}

// Config configures a Service.
type Config struct {
	DB *sqlstore.DB
	// Wake is called after the commit of a test delivery or of a manual retry, with the id of its subscription.
	Wake func(webhook string) // nil for none
	// Backlog limits the waiting deliveries of a webhook that is paused or dead (see deadAfter); 0 means no limit.
	Backlog int
	// Events gets the alerts about failing webhooks; nil for none.
	Events  Events
	Log     *slog.Logger
	Metrics prometheus.Registerer // nil for none
	Now     func() time.Time      // nil for time.Now
}

// Service creates test deliveries and manual retries. Its method Run cancels deliveries of deleted subscriptions,
// limits the backlogs of endpoints, and purges finished deliveries. A Service is safe for concurrent use.
type Service struct {
	Config

	metrics *metrics
}

// New returns a service. It panics if a metric is already registered.
func New(c Config) *Service {
	if c.Now == nil {
		c.Now = time.Now
	}
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	if c.Wake == nil {
		c.Wake = func(string) {}
	}
	return &Service{Config: c, metrics: newMetrics(c.Metrics)}
}

// Test stores a delivery of a test event, due now, and returns the id of the delivery.
func (s *Service) Test(tx *sqlstore.Tx, event *outbox.Event, webhook string) (id string, err error) {
	now := s.Now()
	id = newID(now)
	stored, err := insertNew(tx, []newDelivery{{
		id: id, event: event.ID, webhook: webhook, account: event.Account, world: event.World, dueAt: now.UnixMicro(),
	}}, now)
	if err == nil && !stored[0] {
		err = fmt.Errorf("event %s already has a delivery to %s", event.ID, webhook)
	}
	tx.OnCommit(func() { s.Wake(webhook) })
	return id, err
}
