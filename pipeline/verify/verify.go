// Package verify finds out whose bank accounts and UPI addresses are, and whether the
// name that somebody expects there is the registered one. A penny drop is money: it is
// on disk before a bank hears of it, and is asked about before it is ever asked for
// retryLater. A verification has one verdict, which is told once.
package verify

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/access"
	"vayu/internal/encryption"
	"vayu/internal/failpoint"
	"vayu/internal/httpapi"
	"vayu/internal/sqlstore"
	"vayu/internal/tracing"
	"vayu/pipeline/upstream"
	"vayu/schema"
)

// Config is what a Service is made of.
type Config struct {
	DB     *sqlstore.DB
	Box    *encryption.Box // seals what is private, and cursors
	Events Events
	// Connections are the banks of both worlds.
	Connections []Connection
	Settings    Settings
	// PublicURL says where clients reach this installation, such as
	// https://api.example.com; results_url begins with it.
	PublicURL func() string
	Log       *slog.Logger          // nil for none
	Trace     *tracing.Tracer       // nil for none
	Metrics   prometheus.Registerer // nil for none
	// Now is the clock; nil for time.Now.
	Now func() time.Time
}

// Events takes events to be told to an account's webhooks, in the transaction of
// the change that they are about.
type Events interface {
	Append(tx *sqlstore.Tx, account string, world schema.World, event schema.EventType, data any) (id string, err error)
}

// Service verifies. Handlers may be called once its store is ready; what is pending
// moves on while it runs.
type Service struct {
	Config

	metrics *metrics
	connections   []*connection
	queue   *upstream.Lines[Record]
	waiters   *upstream.Waiters[result] // by id of the verification
	misses  *misses
}

// New returns a service in which nothing moves until Run. It fails when a metric is
// registered already, two connections have one name, or one has no bank, no timeout or
// no room for a call.
func New(c Config) (*Service, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	now := c.Now
	c.Now = func() time.Time { return now().Round(0) } // leases end by the clock of the store, also when the machine was suspended
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	s := &Service{Config: c, waiters: upstream.NewWaiters[result](), misses: newMisses(c.Settings.Misses)}
	var err error
	if s.metrics, err = newMetrics(s, c.Metrics); err != nil {
		return nil, err
	}
	s.queue = upstream.New(upstream.Config[Record]{
		DB: c.DB, Table: queueTable, Claims: s.metrics.claims,
		Claimed: func() { failpoint.Point(failpoint.VerifyClaimed) }, Log: c.Log, Now: c.Now,
	})
	for i := range c.Connections {
		if err := s.connect(c.Connections[i]); err != nil {
			return nil, fmt.Errorf("connecting %s: %w", c.Connections[i].Name, err)
		}
	}
	return s, nil
}

// queueTable is where verifications wait for their turn.
var queueTable = upstream.Table[Record]{Name: "verification", Columns: columns, Scan: scanRecord}

// Request is one verification as it is asked for: its fields are checked, and no
// store or bank was asked yet.
type Request struct {
	Owner  schema.Owner
	RefID  string // "" for none
	Method schema.VerificationMethod
	Private
	// Tolerance is the least score of a name that passes, 0 to 100; negative for the
	// account's own.
	Tolerance int
	By        httpapi.Who
	// Once is the Idempotency-Key that it came with; nil for none.
	Once *access.Once
	// Item is what it is of a batch; nil for none.
	Item *Place
}

// Private is what is kept sealed, and only until there is a verdict.
type Private struct {
	Account string `json:"account,omitempty"` // 9 to 18 digits
	IFSC    string `json:"-"`                 // is no secret
	VPA     string `json:"vpa,omitempty"`     // in lower case
	Name    string `json:"name,omitempty"`    // that is expected; "" for none
}

// Place is a record of a batch.
type Place struct {
	Batch string
	Index int
}

// Record is a verification as it is in the store.
type Record struct {
	ID          string
	Owner       schema.Owner
	RefID       string
	Digest      []byte
	Same        []byte
	State       schema.VerificationState
	Method      schema.VerificationMethod
	Target      string // masked
	IFSC        string
	Sealed      []byte // Private; nil once there is a verdict
	Named       bool
	Threshold   int
	Provider    string
	ProviderRef string
	Sent        bool
	SentAt      time.Time // when it was sent the last time or, until that call has ended, can be at the latest; zero for never
	Tries       int
	Trouble     schema.Code
	Found       schema.Beneficiary // of success
	Verified    bool
	UTR         string
	ErrorCode   schema.Code
	AnsweredBy  string
	Key         string
	Batch       Place // Batch is "" for none
	CreatedAt   time.Time
	FinishedAt  time.Time // zero while pending
}
