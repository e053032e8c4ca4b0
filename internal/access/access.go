// Package access authenticates and authorizes API calls, and audits changes. Its sub-packages have accounts,
// keys, sessions, quotas, signatures, idempotency keys and the audit log.
//
// Admission queries the store only for sessions, signed calls and unknown keys. Four times a second, a refresh of the
// cache reads the keys and accounts that have changed. The service counts usage in memory, and writes the counts in
// batches more than twice a second.
package access

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"

	"vayu/internal/access/quota"
	"vayu/internal/config"
	"vayu/internal/encryption"
	"vayu/internal/sqlstore"
	"vayu/internal/tablecache"
)

// Config holds the dependencies and settings of a Service.
type Config struct {
	DB       *sqlstore.DB
	Cipher   *encryption.Cipher
	Settings Settings
	// Events receives the quota events. If it is nil, the events are dropped.
	Events  quota.Events
	Log     *slog.Logger
	Metrics prometheus.Registerer
	// Now returns the current time. If it is nil, time.Now is used.
	Now func() time.Time
	// Timeout limits each query that refreshes the cache. If it is 0, [tablecache.Timeout] applies.
	Timeout time.Duration
}

// Settings are the limits that an operator configures.
type Settings struct {
	Rate       int `yaml:"rate" help:"calls per second that a key may make; 0 for any number"`
	Burst      int `yaml:"burst" help:"calls that a key may make at once"`
	MoneyRate  int `yaml:"money-rate" help:"recharges and verifications per second that a key may ask for; 0 for any number"`
	MoneyBurst int `yaml:"money-burst" help:"recharges and verifications that a key may ask for at once"`
	// AccountFactor is the rate and burst of an account in a world, as a multiple of those of one key; 0 for no limit.
	AccountFactor int              `yaml:"keys-worth" help:"calls per second, and at once, that an account may make with all of its keys, as a multiple of what one key may; 0 for any number"`
	MaxKeys       int              `yaml:"most-keys" help:"active keys that an account may have in each world; 0 for any number"`
	Plans         map[string]int64 `yaml:"plans" help:"calls per month of each plan; 0 for no limit"`
	// AuditHeads is the file to which the service copies heads (hashes of the last rows) of the audit log.
	AuditHeads string `yaml:"audit-heads" help:"file to which the heads of the audit log are copied every minute; empty for audit-heads.ndjson in the data directory"`
}

// DefaultSettings returns the default limits.
func DefaultSettings() Settings {
	return Settings{
		Rate: 50, Burst: 100, MoneyRate: 20, MoneyBurst: 40, AccountFactor: 1, MaxKeys: 200,
		Plans: quota.DefaultPlans(),
	}
}

// Validate returns an error for each invalid setting. The error names the setting by its YAML key.
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
	if s.AccountFactor < 0 || s.AccountFactor > mostKeysWorth {
		faults = append(faults, config.Invalid("keys-worth", "must be between 0 and %d; 0 is for any number", mostKeysWorth))
	}
	if s.MaxKeys < 0 {
		faults = append(faults, config.Invalid("most-keys", "must not be negative; 0 is for any number"))
	}
	return append(faults, quota.CheckPlans(s.Plans)...)
}

// mostKeysWorth is the largest AccountFactor. With this factor, the product of AccountFactor and every realistic
// rate still fits into an int.
const mostKeysWorth = 1_000_000

// Service checks API calls against the accounts and keys in the store, and caches both. It implements httpapi.Access.
type Service struct {
	Config

	cache    keyCache
	follower *tablecache.Follower
	sweptAt  time.Time     // time of the last removal of expired keys; only refreshes use it
	lookups  *rate.Limiter // limits refreshes for unknown keys
	usage    *quota.Counters
	metrics  *metrics
}

// New returns a service with an empty cache; Run fills it. New panics if a metric is already registered.
func New(c Config) *Service {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	s := &Service{Config: c, lookups: rate.NewLimiter(lookupRate, lookupBurst)}
	s.cache.init()
	s.cache.ended = newEndedKeys()
	s.metrics = newMetrics(s, c.Metrics)
	s.usage = quota.New(quota.Config{
		DB: c.DB, Plans: c.Settings.Plans, Events: c.Events, Missing: s.cache.invalidate,
		Log: c.Log, Metrics: c.Metrics, Now: c.Now,
	})
	s.follower = s.newFollower()
	return s
}

// Run refreshes the cache, flushes usage and purges expired rows until ctx ends. It then flushes
// the remaining usage. Run must return before the store is closed.
func (s *Service) Run(ctx context.Context) error {
	var parts sync.WaitGroup
	var err error
	parts.Go(func() { s.follower.Run(ctx) })
	_ = s.Ready(ctx) // returns an error only if ctx has ended; the parts below then end at once
	parts.Go(func() { err = s.usage.Run(ctx) })
	parts.Go(func() { _ = s.purge(ctx) }) // returns when ctx ends, always without an error
	parts.Wait()
	return err
}

// Ready waits until Run has loaded the cache. It returns an error only if ctx ends first.
func (s *Service) Ready(ctx context.Context) error { return s.follower.Ready(ctx) }
