// Package account is who may ask, for what, how often, and what was done:
// accounts and their keys, scopes, allow-lists, signatures, rate limits, quotas,
// idempotency and the audit log.
//
// A request costs no query: keys and accounts are held in memory and follow the
// store by its revision, looked at four times a second. What is counted is
// counted in memory and written in groups twice a second.
package account

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/api"
	"vayu/internal/seal"
	"vayu/internal/state"
	"vayu/schema"
)

// Config is what a Service is made of.
type Config struct {
	DB       *state.DB
	Box      *seal.Box
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
	Append(tx *state.Tx, account string, world schema.World, event string, data any) error
}

// Settings are the limits, as an operator sets them.
type Settings struct {
	Rate       int              `koanf:"rate" help:"calls per second that a key may make"`
	Burst      int              `koanf:"burst" help:"calls that a key may make at once"`
	MoneyRate  int              `koanf:"money-rate" help:"recharges and verifications per second that a key may ask for"`
	MoneyBurst int              `koanf:"money-burst" help:"recharges and verifications that a key may ask for at once"`
	Plans      map[string]int64 `koanf:"plans" help:"calls per month of each plan; 0 for no limit"`
}

// DefaultSettings are those of CONTRACT 2.
func DefaultSettings() Settings {
	return Settings{Rate: 50, Burst: 100, MoneyRate: 20, MoneyBurst: 40, Plans: map[string]int64{"free": 1000, "standard": 100_000, "unlimited": 0}}
}

// Service implements api.Access over the store.
type Service struct{ Config }

// New returns a service that knows no key until Run has read them.
func New(c Config) (*Service, error) { return &Service{c}, nil }

// Run follows the store and writes what was counted until ctx ends; then it
// writes the rest.
func (s *Service) Run(ctx context.Context) error { <-ctx.Done(); return nil }

// Ready waits until the keys are known.
func (s *Service) Ready(ctx context.Context) error { return nil }

// Admit implements api.Access.
func (s *Service) Admit(c *api.Call, route *api.Route) (api.Pass, error) {
	return nil, errors.New("not there yet")
}

// Routes are the endpoints about keys, account, usage and audit.
func (s *Service) Routes() []api.Route { return nil }

// Changer does what a state-changing call asks for, inside tx. It returns what
// to reply and what the audit log says of it.
type Changer func(c *api.Call, tx *state.Tx) (api.Response, Entry, error)

// Change makes a handler of do: one transaction holds the change, its audit row
// and, when the call has an Idempotency-Key, its reply. A repeated call gets
// that reply again and changes nothing.
func (s *Service) Change(do Changer) api.Handler { return nil }

// Entry is what the audit log says of a change.
type Entry struct {
	Account string
	World   schema.World
	Actor   string // id of the key; "command" for the command line
	Action  string // such as key.create
	Subject string // id of what was changed
	Request string // request id
	Client  string // IP address
	Detail  map[string]any
}

// Audit appends an entry to its chain, in the transaction of the change. It
// should be the last thing in it: it locks the chain of the account until the
// transaction ends.
func Audit(tx *state.Tx, now time.Time, e Entry) error { return nil }

// KeySpec is a key that is asked for. Zero values are the defaults.
type KeySpec struct {
	Account          string // id
	World            schema.World
	Name             string
	Scopes           []schema.Scope // nil for all but keys:manage
	AllowList        []string       // CIDRs or addresses
	RequireSignature bool
	ExpiresAt        time.Time // zero for never
}

// Made is a new key: the only moment at which it can be read.
type Made struct {
	Record        schema.Key
	Key           string
	SigningSecret string // empty unless signatures are required
}
