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
	// Change makes an audited, idempotent handler of a Changer; may be nil if Routes is unused.
	Change  func(access.Changer) httpapi.Handler
	Log     *slog.Logger          // nil for none
	Metrics prometheus.Registerer // nil for none
	// Now is the clock; nil for time.Now.
	Now func() time.Time
}

// Events appends events for an account's webhooks, in the transaction of the change that they
// record.
type Events interface {
	Append(tx *sqlstore.Tx, account string, world schema.World, event schema.EventType, data any) (id string, err error)
}

// Service records payments and serves balances, payments and statements.
type Service struct {
	Config

	metrics *metrics
}

// New returns a service. It has no background work. It fails if a metric is already
// registered.
func New(c Config) (*Service, error) {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	s := &Service{Config: c}
	var err error
	s.metrics, err = newMetrics(c.Metrics)
	return s, err
}
