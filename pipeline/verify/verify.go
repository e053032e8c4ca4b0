// Package verify finds the registered holder of bank accounts and UPI addresses, and compares
// the holder's name with an expected one. A penny drop is a deposit of one rupee. Because it
// moves money, it is stored before the first call to a bank. An enquiry precedes each repetition.
// A verification ends once, with one event.
package verify

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/access/idempotency"
	
	"vayu/internal/encryption"
	"vayu/internal/failpoint"
	"vayu/internal/httpapi"
	"vayu/internal/sqlstore"
	"vayu/internal/tracing"
	"vayu/pipeline/upstream"
	"vayu/schema"
)

// Config holds the dependencies and settings of a Service.
type Config struct {
	DB     *sqlstore.DB
	Cipher *encryption.Cipher // encrypts private columns and cursors
	Events Events
	// Connections are the banks of both worlds, live and sandbox.
	Connections []Connection
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

// Events appends events for an account's webhooks, in the transaction of the change that they
// record.
type Events interface {
	Append(tx *sqlstore.Tx, account string, world schema.World, event schema.EventType, data any) (id string, err error)
}

// Service verifies bank accounts and UPI addresses. Its handlers may be called once its store
// is ready. Pending verifications proceed while Run is active.
type Service struct {
	Config

	metrics     *metrics
	connections []*connection
	queue       *upstream.Pools[Record]
	waiters     *upstream.Waiters[result] // waiting requests, by id of the verification
	misses      *misses
}

// New returns a service that is idle until Run. It fails if a metric is already registered or two
// connections share a name. Each connection needs a bank, a timeout and a concurrency.
func New(c Config) (*Service, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	now := c.Now
	c.Now = func() time.Time { return now().Round(0) } // drop the monotonic clock: it stops while the machine is suspended, lease times do not
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	s := &Service{Config: c, waiters: upstream.NewWaiters[result](), misses: newMisses(c.Settings.EnumerationThreshold)}
	var err error
	if s.metrics, err = newMetrics(s, c.Metrics); err != nil {
		return nil, err
	}
	s.queue = upstream.New(upstream.Config[Record]{
		DB: c.DB, Table: queueTable, ClaimFailures: s.metrics.claims,
		OnClaimed: func() { failpoint.Point(failpoint.VerifyClaimed) }, Log: c.Log, Now: c.Now,
	})
	for i := range c.Connections {
		if err := s.connect(c.Connections[i]); err != nil {
			return nil, fmt.Errorf("connecting %s: %w", c.Connections[i].Name, err)
		}
	}
	return s, nil
}

// queueTable describes the work queue of verifications.
var queueTable = upstream.Table[Record]{Name: "verification", Columns: columns, Scan: scanRecord}

// Request is one validated verification request, before any access to the store or a bank.
type Request struct {
	Owner  schema.Owner
	RefID  string // "" for none
	Method schema.VerificationMethod
	Private
	// Tolerance is the least passing score of a name match, 0 to 100; negative for the
	// account's default.
	Tolerance int
	Caller    httpapi.Who

	// Once is the request's Idempotency-Key; nil for none.
	Once *idempotency.Key
	// Item is the batch record that the request belongs to; nil for none.
	Item *BatchItem
}

// Private holds the encrypted fields. They are kept only while the verification is pending.
type Private struct {
	Account string `json:"account,omitempty"` // 9 to 18 digits
	IFSC    string `json:"-"`                 // not secret
	VPA     string `json:"vpa,omitempty"`     // in lower case
	Name    string `json:"name,omitempty"`    // expected name; "" for none
}

// BatchItem identifies a record of a batch.
type BatchItem struct {
	Batch string
	Index int
}

// Record is a stored verification.
type Record struct {
	ID          string
	Owner       schema.Owner
	RefID       string
	Digest      []byte // of the request, to detect a repetition
	CacheKey    []byte // digest of the target
	State       schema.VerificationState
	Method      schema.VerificationMethod
	Target      string // masked
	IFSC        string
	Encrypted   []byte // encrypted Private; nil once the verification has ended
	Named       bool   // the request has an expected name
	Threshold   int    // least passing score of a name match
	Provider    string
	ProviderRef string
	Sent        bool               // the first call may have been made
	SentAt      time.Time          // latest possible time of the last send; zero for never
	Tries       int                // calls without a final outcome
	DelayCode   schema.Code        // why the outcome is delayed; "" for no failure
	Beneficiary schema.Beneficiary // set on success
	Verified    bool
	UTR         string
	ErrorCode   schema.Code
	AnsweredBy  string    // id of the verification whose answer was reused; "" for none
	Key         string    // id of the API key
	Batch       BatchItem // Batch is "" for none
	CreatedAt   time.Time
	FinishedAt  time.Time // zero while pending
}
