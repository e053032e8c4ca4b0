// Package access is who may ask, for what, how often, and what was done:
// accounts and their keys, scopes, allow-lists, signatures, rate limits, quotas,
// idempotency and the audit log.
//
// A request costs no query: keys and accounts are held in memory and follow the
// store by its revision, looked at four times a second. What is counted is
// counted in memory and written in groups more than twice a second.
package access

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"

	"vayu/internal/config"
	"vayu/internal/encryption"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

// Config is what a Service is made of.
type Config struct {
	DB       *sqlstore.DB
	Box      *encryption.Box
	Settings Settings
	// Events takes the quota events; nil drops them.
	Events  Events
	Log     *slog.Logger
	Metrics prometheus.Registerer
	// Now is the clock; nil for time.Now.
	Now func() time.Time
}

// Events takes events to be told to an account's webhooks, in the transaction
// of the change that they are about.
type Events interface {
	Append(tx *sqlstore.Tx, account string, world schema.World, event schema.EventType, data any) (id string, err error)
}

// Settings are the limits, as an operator sets them.
type Settings struct {
	Rate       int `koanf:"rate" help:"calls per second that a key may make; 0 for any number"`
	Burst      int `koanf:"burst" help:"calls that a key may make at once"`
	MoneyRate  int `koanf:"money-rate" help:"recharges and verifications per second that a key may ask for; 0 for any number"`
	MoneyBurst int `koanf:"money-burst" help:"recharges and verifications that a key may ask for at once"`
	// KeysWorth is how many keys the buckets of an account are worth.
	KeysWorth int              `koanf:"keys-worth" help:"calls per second, and at once, that an account may make with all of its keys, as a multiple of what one key may; 0 for any number"`
	MostKeys  int              `koanf:"most-keys" help:"active keys that an account may have in each world; 0 for any number"`
	Plans     map[string]int64 `koanf:"plans" help:"calls per month of each plan; 0 for no limit"`
	// AuditHeads is the file to which the service copies heads of the audit log.
	AuditHeads string `koanf:"audit-heads" help:"file to which the heads of the audit log are copied every minute; empty for audit-heads.ndjson in the data directory"`
}

// DefaultSettings are those of CONTRACT 2.
func DefaultSettings() Settings {
	return Settings{
		Rate: 50, Burst: 100, MoneyRate: 20, MoneyBurst: 40, KeysWorth: 1, MostKeys: 200,
		Plans: map[string]int64{freePlan: freeCalls, "standard": 100_000, "unlimited": 0},
	}
}

// Validate reports every fault at once, each naming its key.
func (s Settings) Validate() []error {
	var faults []error
	for _, class := range []struct {
		rateKey, burstKey string
		rate, burst       int
	}{{"rate", "burst", s.Rate, s.Burst}, {"money-rate", "money-burst", s.MoneyRate, s.MoneyBurst}} {
		switch {
		case class.rate < 0:
			faults = append(faults, config.Invalid(class.rateKey, "must not be negative; 0 is for any number"))
		case class.burst < 0 || class.rate > 0 && class.burst < 1:
			faults = append(faults, config.Invalid(class.burstKey, "must be at least 1, or no call goes through"))
		}
	}
	if s.KeysWorth < 0 || s.KeysWorth > mostKeysWorth {
		faults = append(faults, config.Invalid("keys-worth", "must be between 0 and %d; 0 is for any number", mostKeysWorth))
	}
	if s.MostKeys < 0 {
		faults = append(faults, config.Invalid("most-keys", "must not be negative; 0 is for any number"))
	}
	if _, there := s.Plans[freePlan]; !there {
		faults = append(faults, config.Invalid("plans", "%s: must be there, because the first start makes an account with it; plans that are given stand in place of the usual ones", freePlan))
	}
	for plan, calls := range s.Plans {
		if plan == "" {
			faults = append(faults, config.Invalid("plans", "a plan needs a name"))
		}
		if calls < 0 {
			faults = append(faults, config.Invalid("plans", "%s: must not be negative; 0 is for no limit", plan))
		}
		if calls > mostCalls {
			faults = append(faults, config.Invalid("plans", "%s: must be at most %d; 0 is for no limit", plan, int64(mostCalls)))
		}
	}
	return faults
}

// mostKeysWorth keeps the rate of an account far from the limits of its type.
const mostKeysWorth = 1_000_000

// mostCalls of a plan: as per cent they still fit into 64 bits, however much is
// used beyond them.
const mostCalls = 1_000_000_000_000_000

// Service implements api.Access over the store.
type Service struct {
	Config

	book     book
	looking  sync.Mutex    // held during a look at the store
	sweptAt  time.Time     // the last sweep of the book; held by looking
	lookedAt atomic.Int64  // microseconds; the last look that succeeded
	away     atomic.Bool   // the last look failed
	seeking  *rate.Limiter // of looks for keys that are not known
	ledger   ledger
	metrics  *metrics
	known    chan struct{} // closed when the keys are known
}

// New returns a service that knows no key until Run has read them. It fails
// when a metric is registered already.
func New(c Config) (*Service, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	s := &Service{Config: c, known: make(chan struct{}), seeking: rate.NewLimiter(seekRate, seekBurst)}
	s.lookedAt.Store(c.Now().UnixMicro())
	s.book.init()
	s.ledger.init(s.newAccountBuckets)
	var err error
	if s.metrics, err = newMetrics(s, c.Metrics); err != nil {
		return nil, err
	}
	return s, nil
}

// Run follows the store, writes what was counted and deletes what is over, until
// ctx ends; then it writes the rest. It must end before the store does.
func (s *Service) Run(ctx context.Context) error {
	s.begin(ctx)
	var parts sync.WaitGroup
	parts.Go(func() { s.follow(ctx) })
	parts.Go(func() { s.writeUsage(ctx) })
	parts.Go(func() { _ = s.purge(ctx) }) // ends with ctx only
	parts.Wait()
	return s.writeRest(ctx)
}

// Ready waits until the keys are known.
func (s *Service) Ready(ctx context.Context) error {
	select {
	case <-s.known:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
