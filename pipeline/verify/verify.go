// Package verify finds out whose bank accounts and UPI addresses are, and whether the
// name that somebody expects there is the registered one. A penny drop is money: it is
// on disk before a bank hears of it, and is asked about before it is ever asked for
// again. A verification has one verdict, which is told once.
package verify

import (
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/seal"
	"vayu/internal/state"
	"vayu/schema"
)

// Config is what a Service is made of.
type Config struct {
	DB     *state.DB
	Box    *seal.Box // seals what is private, and cursors
	Events Events
	// Connections are the banks of both worlds.
	Connections []Connection
	// BatchShare is how many records of batches may be under way at once.
	BatchShare int
	// PublicURL is where clients reach this installation, such as
	// https://api.example.com; results_url begins with it.
	PublicURL string
	// GiveUpAfter is how long a bank is asked for a verdict. Then the verification has
	// failed, with the trouble that it had last.
	GiveUpAfter time.Duration
	// CacheFor is how long the answer of a bank serves an account that asks about the
	// same again; 0 for not at all.
	CacheFor time.Duration
	// Keep is how long finished verifications are kept; 0 for ever.
	Keep time.Duration
	// Misses is how many accounts that do not exist a key may ask about in an hour
	// before the enumeration alarm; 0 for no alarm.
	Misses  int
	Log     *slog.Logger          // nil for none
	Metrics prometheus.Registerer // nil for none
	// Now is the clock; nil for time.Now.
	Now func() time.Time
}

// Events takes events to be told to an account's webhooks, in the transaction of
// the change that they are about.
type Events interface {
	Append(tx *state.Tx, account string, world schema.World, event schema.EventType, data any) (id string, err error)
}
