// Package recharge tops up mobiles and DTH boxes. Money moves once, whatever
// operators do: they time out, answer late, twice or wrongly. A recharge is on disk
// with its amount set aside before an operator hears of it, is asked about before it
// is ever sent again, and changes its state by compare-and-set together with its
// postings, its event and its row of the audit log.
package recharge

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

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
	Box    *encryption.Box // seals cursors
	Events Events
	// Connections are the providers of both worlds.
	Connections []Connection
	// BatchShare is how many records of batches may be under way at once.
	BatchShare int
	// MaskAfter is how long after the last change of a settled recharge its number is
	// masked; 0 for never.
	MaskAfter time.Duration
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

// Service carries out recharges. Handlers may be called once its store is ready;
// what is pending moves on while it runs.
type Service struct {
	Config

	metrics *metrics
	lines   []*line
	calls   *upstream.Lines[Record]
	waits   *upstream.Waiters[settled] // by id of the recharge
}

// New returns a service in which nothing moves until Run. It fails when a metric is
// registered already, two connections have one name, or one has no
// operator, no timeout or no room for a call.
func New(c Config) (*Service, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	now := c.Now
	c.Now = func() time.Time { return now().Round(0) } // leases end by the clock of the store, also when the machine was suspended
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	s := &Service{Config: c, waits: upstream.NewWaiters[settled]()}
	var err error
	if s.metrics, err = newMetrics(s, c.Metrics); err != nil {
		return nil, err
	}
	s.calls = upstream.New(upstream.Config[Record]{
		DB: c.DB, Table: table, Claims: s.metrics.claims,
		Claimed: func() { failpoint.Point(failpoint.RechargeClaimed) }, Log: c.Log, Now: c.Now,
	})
	for i := range c.Connections {
		if err := s.connect(c.Connections[i]); err != nil {
			return nil, fmt.Errorf("connecting %s: %w", c.Connections[i].Name, err)
		}
	}
	return s, nil
}

// table is where recharges wait for their turn.
var table = upstream.Table[Record]{Name: "recharge", Columns: columns, Scan: scanRecord}

// Request is one recharge as it is asked for: its fields are checked, and no store or
// provider was asked yet.
type Request struct {
	Owner  schema.Owner
	RefID  string
	Type   schema.RechargeType
	Number string // ten digits, or the id of a DTH subscriber; as it came when it is not Valid
	Valid  bool   // false: it cannot be anybody's, and the recharge fails with invalid_number
	Asked  string // canonical name of the operator; empty for auto
	Amount schema.Paise
	By     httpapi.Who
	// Patient is that whoever asks waits as long as he says, also when the operator is
	// not asked again before that: he may speak by himself.
	Patient bool
	// Item is what it is of a batch; nil for none.
	Item *Place
}

// Place is a record of a batch.
type Place struct {
	Batch string
	Index int
}

// Record is a recharge as it is in the store.
type Record struct {
	ID           string
	Owner        schema.Owner
	RefID        string
	State        schema.RechargeState
	Type         schema.RechargeType
	Number       string // masked when Digest is not nil
	Digest       []byte // keyed hash of the number, from when it was masked
	Asked        string
	Operator     string
	Circle       string
	Detection    string // lookup, series or ""
	Amount       schema.Paise
	Provider     string
	Reference    string
	ProviderRef  string
	Sent         bool
	SentAt       time.Time // when it was sent the last time or, until that call has ended, can be at the latest; zero for never
	Tries        int
	ToldPending  bool
	ErrorCode    schema.Code
	ErrorMessage string
	Alarm        string
	RefundID     string
	RefundReason string
	Batch        Place // Batch is "" for none
	CreatedAt    time.Time
	FinishedAt   time.Time // zero while pending
	RefundedAt   time.Time // zero unless refunded
}
