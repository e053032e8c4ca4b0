// Package verify finds the registered holder of bank accounts and UPI addresses, and compares the holder's
// name with an expected one. A penny drop is a deposit of one rupee. Because it moves money, the verification
// is stored before the first call to a bank. An enquiry precedes each repeated penny drop, unless the bank
// certainly did not make the earlier one. A verification ends once, with one event.
package verify

import (
	"errors"
	"fmt"
	"time"

	"vayu/internal/config"
	"vayu/internal/failpoint"
	"vayu/internal/workqueue"
	"vayu/pipeline/transaction"
	"vayu/pipeline/verify/bank"
	"vayu/schema"
)

// Config holds the dependencies and settings of a Service.
type Config struct {
	transaction.Options // the Cipher encrypts private columns

	// Connections are the banks of both worlds, live and sandbox.
	Connections []bank.Connection
	Settings    Settings
	// PublicURL returns the base URL of this installation, such as https://api.example.com; results_url begins with it.
	PublicURL func() string
}

// Service verifies bank accounts and UPI addresses. Its handlers may be called once its store
// is ready. Pending verifications proceed while Run is active.
type Service struct {
	*transaction.Core[Record, *Record]

	settings    Settings
	publicURL   func() string
	metrics     *metrics
	connections []*bank.Connection
	misses      *misses
}

// New returns a service that is idle until Run. A connection needs a unique name, a bank, a timeout, a
// concurrency, and ResendAfter >= Timeout.
func New(c Config) (*Service, error) {
	s := &Service{
		Core: transaction.NewCore(kind, c.Options), settings: c.Settings, publicURL: c.PublicURL, misses: newMisses(c.Settings.EnumerationThreshold),
	}
	s.metrics = newMetrics(s.Core.Metrics)
	for _, conn := range c.Connections {
		if err := s.connect(conn); err != nil {
			return nil, fmt.Errorf("connecting %s: %w", conn.Name, err)
		}
	}
	return s, nil
}

// connect validates a connection and adds it to the service.
func (s *Service) connect(conn bank.Connection) error {
	switch {
	case conn.Bank == nil:
		return errors.New("no bank is set")
	case conn.ResendAfter < conn.Timeout:
		return errors.New("resend-after is shorter than timeout: a deposit would be sent again while a call is in flight")
	}
	s.connections = append(s.connections, &conn)
	return s.Core.Connect(&conn.Link, func(claim workqueue.Claim[Record]) { s.resume(&conn, claim) })
}

// kind describes verifications as one kind of transactions, for package transaction.
var kind = transaction.Kind[Record, *Record]{
	Table: verifications, List: "verifications", Metrics: "vayu_verify_", Actor: actor, Reread: 2 * time.Second,
	Claimed: failpoint.VerifyClaimed, Created: failpoint.VerifyCreated, States: transaction.Names(schema.VerificationStates),
	Narrow: narrow, Reply: func(r *Record) any { return toWire(r) },
	Detail: func(r *Record, calls schema.ProviderCalls) any {
		return schema.VerificationDetail{Verification: toWire(r), ProviderCalls: calls}
	},
	Summary: summaryOf,
}

// These are problems of rejected requests. Nothing is recorded about a rejected request.
var (
	errUnserved = &schema.Problem{
		Code: schema.ServiceUnavailable, Field: fieldMethod, Message: "No bank is connected for this method. Nothing was recorded.",
	}
	errUnavailable = schema.NewProblem(schema.ServiceUnavailable, "", "No bank is available at the moment. Nothing was recorded. Retry later.")
)

// fieldMethod is the Problem.Field if no bank serves the method. A batch item with this problem is not retried.
const fieldMethod = "method"

// route returns the first available connection of `world` that serves `method`. It returns errUnserved if no connection
// of the world serves the method, and errUnavailable if some do, but none of them is available.
func (s *Service) route(world schema.World, method schema.VerificationMethod) (*bank.Connection, error) {
	conn, available := transaction.Route(s.connections, world, func(conn *bank.Connection) bool { return conn.Serves(method) })
	switch {
	case conn == nil:
		return nil, errUnserved
	case !available:
		return nil, errUnavailable
	}
	return conn, nil
}

// Callbacks returns the callback handlers of the banks that send callbacks, by the bank's name.
func (s *Service) Callbacks() map[string]transaction.Callback {
	receiver := func(conn *bank.Connection) transaction.Receiver[bank.Answer] { return conn.Receiver }
	return transaction.CallbacksOf(s.connections, s.Now, receiver, s.Settle)
}

// Settings are the operator's settings for banks, caching and retention.
type Settings struct {
	Banks                []string      `yaml:"banks" help:"files that describe banks or aggregators; live verifications need at least one"`
	BatchRoom            int           `yaml:"batch-room" help:"batch records in flight at once"`
	GiveUp               time.Duration `yaml:"give-up" help:"how long a verification is retried until it fails"`
	Cache                time.Duration `yaml:"cache" help:"how long a bank's answer is reused for the same account; 0 for no cache"`
	Retention            time.Duration `yaml:"keep" help:"retention of finished verifications; 0 means unlimited"`
	EnumerationThreshold int           `yaml:"misses" help:"missing accounts that a key may request in an hour before an alarm; 0 for no alarm"`
}

// DefaultSettings returns settings without a bank. Retention is 90 days, because clients ask about payments for that
// long. EnumerationThreshold is 100, because typing errors do not explain more missing accounts in an hour.
func DefaultSettings() Settings {
	return Settings{BatchRoom: 256, GiveUp: 24 * time.Hour, Retention: 90 * 24 * time.Hour, EnumerationThreshold: 100}
}

// These are the limits of settings.
const (
	mostBatchRoom = 10_000
	leastGiveUp   = time.Minute
	mostGiveUp    = 7 * 24 * time.Hour
	mostCache     = 24 * time.Hour // an account can be frozen or closed after the answer
	leastKeep     = time.Hour
)

// Validate returns every fault, each with its key.
func (s Settings) Validate() []error {
	var f config.Faults
	f.Check(s.BatchRoom >= 1 && s.BatchRoom <= mostBatchRoom, "batch-room", "must be 1 to %d", mostBatchRoom)
	f.Check(s.GiveUp >= leastGiveUp && s.GiveUp <= mostGiveUp, "give-up", "must be %s to %s", leastGiveUp, mostGiveUp)
	f.Check(s.Cache >= 0 && s.Cache <= mostCache, "cache", "must be 0 to %s", mostCache)
	f.Check(s.Retention == 0 || s.Retention >= leastKeep, "keep", "must be 0 (unlimited) or at least %s", leastKeep)
	f.Check(s.EnumerationThreshold >= 0, "misses", "must not be negative")
	return f
}
