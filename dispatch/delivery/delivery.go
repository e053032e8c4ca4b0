// Package delivery keeps deliveries: one event on its way to one subscription,
// and every attempt that was made. It is the only writer of the tables delivery
// and attempt, and the place of the state machine of spec 3.3.
package delivery

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/dispatch/outbox"
	"vayu/dispatch/sender"
	"vayu/internal/access"
	"vayu/internal/encryption"
	"vayu/internal/httpapi"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

// Row is a delivery that waits for an attempt.
type Row struct {
	ID       string
	Webhook  string
	EventID  string
	Type     schema.EventType
	World    schema.World
	Attempts int       // that are recorded
	DueAt    time.Time // of the next, before it was leased
	Envelope []byte    // shared; never changed
	Trace    string    // of the event, and
	Happened time.Time // when that was
}

// Lease is the right to make attempts for a while. Token is that of one claim.
type Lease struct {
	Token string
	Until time.Time
}

// Order is a delivery to be stored.
type Order struct {
	Event   *outbox.Event
	Webhook string
	// Lease says that it goes to the caller at once; else it is due now.
	Lease bool
}

// Want is how many due deliveries of a subscription are asked for.
type Want struct {
	Webhook string
	Most    int
}

// Claimed is what Claim found for a Want. Next is when what is left is due at the
// earliest, which may have passed; zero when nothing waits.
type Claimed struct {
	Webhook string
	Rows    []Row
	Next    time.Time
}

// Outcome is an attempt that was made, and what follows from it.
type Outcome struct {
	Row    *Row
	Token  string
	Result sender.Result
	Verdict
}

// Verdict is what follows from an attempt.
type Verdict struct {
	State schema.DeliveryState // waiting, delivered or failed
	DueAt time.Time            // of the next attempt, when waiting
}

// Config is what a Service is made of.
type Config struct {
	DB  *sqlstore.DB
	Box *encryption.Box
	// Change makes handlers of changes: access.Service.Change.
	Change func(access.Changer) httpapi.Handler
	// Wake is told, after the commit, of a subscription that has something due.
	Wake func(webhook string) // nil for nobody
	// Backlog is how many deliveries may wait for one webhook; 0 for any number.
	Backlog int
	Log     *slog.Logger
	Metrics prometheus.Registerer // nil for none
	Now     func() time.Time      // nil for time.Now
}

// Service answers about deliveries, and cleans up.
type Service struct {
	Config

	metrics *metrics
}

// New returns a service. It fails when a metric is registered already.
func New(c Config) (*Service, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Wake == nil {
		c.Wake = func(string) {}
	}
	m, err := newMetrics(c.Metrics)
	if err != nil {
		return nil, err
	}
	return &Service{Config: c, metrics: m}, nil
}

// Test stores a delivery of one event to one subscription, due now, and returns
// its id.
func (s *Service) Test(tx *sqlstore.Tx, event *outbox.Event, webhook string) (id string, err error) {
	now := s.Now()
	id = newID(now)
	stored, err := insertFresh(tx, []fresh{{
		id: id, event: event.ID, webhook: webhook, account: event.Account, world: event.World, dueAt: now.UnixMicro(),
	}}, now)
	if err == nil && !stored[0] {
		err = fmt.Errorf("event %s is on its way to %s already", event.ID, webhook)
	}
	tx.After(func() { s.Wake(webhook) })
	return id, err
}
