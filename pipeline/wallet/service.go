package wallet

import (
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/access"
	"vayu/internal/encryption"
	"vayu/internal/httpapi"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

// Config is what a Service is made of.
type Config struct {
	DB     *sqlstore.DB
	Box    *encryption.Box // seals cursors; may be nil where Routes is not asked for
	Events Events
	// Change makes a handler of what changes something; may be nil where Routes is
	// not asked for.
	Change  func(access.Changer) httpapi.Handler
	Log     *slog.Logger          // nil for none
	Metrics prometheus.Registerer // nil for none
	// Now is the clock; nil for time.Now.
	Now func() time.Time
}

// Events takes events to be told to an account's webhooks, in the transaction of
// the change that they are about.
type Events interface {
	Append(tx *sqlstore.Tx, account string, world schema.World, event schema.EventType, data any) (id string, err error)
}

// Service takes payments, and shows what accounts have.
type Service struct {
	Config

	metrics *metrics
}

// New returns a service that needs no running. It fails when a metric is registered
// already.
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
