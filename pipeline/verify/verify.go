// Package verify finds the registered holder of bank accounts and UPI addresses, and compares the
// holder's name with an expected one. A penny drop is a deposit of one rupee. Because it moves
// money, it is stored before the first call to a bank. An enquiry precedes each repeated penny
// drop, unless the earlier one was certainly not made. A verification ends once, with one event.
package verify

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/encryption"
	"vayu/internal/failpoint"
	"vayu/internal/sqlstore"
	"vayu/internal/tracing"
	"vayu/pipeline/transaction"
	"vayu/pipeline/verify/bank"
	"vayu/schema"
)

// Config holds the dependencies and settings of a Service.
type Config struct {
	DB     *sqlstore.DB
	Cipher *encryption.Cipher // encrypts private columns
	Events transaction.Events
	// Connections are the banks of both worlds, live and sandbox.
	Connections []bank.Connection
	Settings    Settings
	// PublicURL returns the base URL of this installation, such as https://api.example.com;
	// results_url begins with it.
	PublicURL func() string
	Log       *slog.Logger          // nil for none
	Trace     *tracing.Tracer       // nil for none
	Metrics   prometheus.Registerer // nil for none
	// Now is the clock; nil for time.Now.
	Now func() time.Time
}

// Service verifies bank accounts and UPI addresses. Its handlers may be called once its store
// is ready. Pending verifications proceed while Run is active.
type Service struct {
	Config
	*transaction.Core[Record, *Record]

	metrics     *metrics
	connections []*connection
	misses      *misses
}

// New returns a service that is idle until Run. It panics if a metric is already registered. A
// connection needs a unique name, a bank, a timeout, a concurrency, and ResendAfter >= Timeout.
func New(c Config) (*Service, error) {
	c.Now = transaction.WallClock(c.Now)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	s := &Service{Config: c, misses: newMisses(c.Settings.EnumerationThreshold), Core: transaction.NewCore(kind, transaction.Options{
		DB: c.DB, Log: c.Log, Trace: c.Trace, Metrics: c.Metrics, Now: c.Now,
	})}
	s.metrics = newMetrics(s.Core.Metrics)
	for i := range c.Connections {
		if err := s.connect(c.Connections[i]); err != nil {
			return nil, fmt.Errorf("connecting %s: %w", c.Connections[i].Name, err)
		}
	}
	return s, nil
}

// verifications describes the table `verification` for package transaction.
var verifications = &transaction.Table[Record, *Record]{
	Name: "verification", Columns: columns, Prefix: idPrefix, Unindexed: string(schema.VerificationSuccess), Scan: scanRecord, Missing: errNoVerification,
}

// kind describes verifications as transactions.
var kind = transaction.Kind[Record, *Record]{
	Table: verifications, List: "verifications", Metrics: "vayu_verify_", Actor: actor, Reread: 2 * time.Second,
	Claimed: failpoint.VerifyClaimed, Created: failpoint.VerifyCreated, States: transaction.Names(schema.VerificationStates),
	Reply: func(r *Record) any { return toWire(r) },
	Detail: func(r *Record, calls schema.ProviderCalls) any {
		return schema.VerificationDetail{Verification: toWire(r), ProviderCalls: calls}
	},
	Summary: summaryOf,
}

// Record is a stored verification.
type Record struct {
	transaction.Base

	Digest      []byte // digest of the request, to detect a repetition
	CacheKey    []byte // digest of the target
	State       schema.VerificationState
	Method      schema.VerificationMethod
	Target      string // masked
	IFSC        string
	Encrypted   []byte             // encrypted Private; nil once the verification has ended
	Named       bool               // the request has an expected name
	Threshold   int                // minimum passing score of a name match
	DelayCode   schema.Code        // why the outcome is delayed; "" for no failure
	Beneficiary schema.Beneficiary // set on success
	Verified    bool
	UTR         string
	AnsweredBy  string // id of the verification whose answer was reused; "" for none
	Key         string // id of the API key
}

// Status returns the state as a string. It is for package transaction.
func (r *Record) Status() string { return string(r.State) }
