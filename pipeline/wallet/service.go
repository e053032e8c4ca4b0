package wallet

import (
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/access"
	"vayu/internal/httpapi"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

// Config holds the dependencies of a Service.
type Config struct {
	DB     *sqlstore.DB
	Events Events
	// Change makes an idempotent, audited handler. It may be nil if Routes is not used.
	Change  func(access.Changer) httpapi.Handler
	Log     *slog.Logger          // nil for none
	Metrics prometheus.Registerer // nil for none
	// Now returns the current time; nil means time.Now.
	Now func() time.Time
}

// Events appends an event for the webhooks of an account. It uses the transaction of the change
// that the event reports.
type Events interface {
	Append(tx *sqlstore.Tx, account string, world schema.World, event schema.EventType, data any) (id string, err error)
}

// Service records payments into wallets, and serves balances, payments and statements.
type Service struct {
	Config

	metrics *metrics
}

// New returns a Service without background work. It panics if a metric is already registered.
func New(c Config) *Service {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Service{Config: c, metrics: newMetrics(c.Metrics)}
}
