// Package recharge tops up mobiles and DTH boxes. Money moves exactly once, although
// operators time out, or answer late, twice or wrongly. A recharge and its reserved amount
// are durable before an operator is called. A status enquiry precedes each resend. A state
// changes by compare-and-set, in one transaction with its postings, its event and its
// audit row.
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
	"vayu/internal/workqueue"
	"vayu/pipeline/transaction"
	"vayu/schema"
)

// Config configures a [Service].
type Config struct {
	DB     *sqlstore.DB
	Box    *encryption.Cipher // for cursors, masked numbers and Idempotency-Keys
	Events Events
	// Connections are the providers of both worlds, live and sandbox.
	Connections []Connection
	// BatchShare is the maximum number of batch items in flight.
	BatchShare int
	// MaskAfter is the time after the last change of a settled recharge at which its
	// number is masked; 0 disables masking.
	MaskAfter time.Duration
	Log       *slog.Logger          // nil for none
	Trace     *tracing.Tracer       // nil for none
	Metrics   prometheus.Registerer // nil for none
	// Now is the clock; nil for time.Now.
	Now func() time.Time
}

// Events stores events for an account's webhooks, in the transaction of the change that
// they describe.
type Events interface {
	Append(tx *sqlstore.Tx, account string, world schema.World, event schema.EventType, data any) (id string, err error)
}

// Service carries out recharges. Its handlers may be called once the store is ready. Run
// advances the pending recharges.
type Service struct {
	Config

	metrics     *metrics
	connections []*connection
	queue       *workqueue.Queue[Record]
	waiters     *transaction.Waiters[result] // by id of the recharge
}

// New returns a service that is idle until Run. It fails if a metric is registered
// already, or if two connections have the same name. It also fails if a connection has no
// operator, no timeout or no concurrency.
func New(c Config) (*Service, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	now := c.Now
	c.Now = func() time.Time { return now().Round(0) } // wall clock, as in the store: the monotonic one stops during a suspend
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	s := &Service{Config: c, waiters: transaction.NewWaiters[result]()}
	var err error
	if s.metrics, err = newMetrics(s, c.Metrics); err != nil {
		return nil, err
	}
	s.queue = workqueue.New(workqueue.Config[Record]{
		DB: c.DB, Table: table, ClaimFailures: s.metrics.claims,
		OnClaimed: func() { failpoint.Point(failpoint.RechargeClaimed) }, Log: c.Log, Now: c.Now,
	})
	for i := range c.Connections {
		if err := s.connect(c.Connections[i]); err != nil {
			return nil, fmt.Errorf("connecting %s: %w", c.Connections[i].Name, err)
		}
	}
	return s, nil
}

// table is the work queue of recharges.
var table = workqueue.Table[Record]{Name: "recharge", Columns: columns, Scan: scanRecord}

// Request is the request for one recharge. Its fields are validated; neither store nor
// provider was consulted yet.
type Request struct {
	Owner             schema.Owner
	RefID             string
	Type              schema.RechargeType
	Number            string // ten digits, or the id of a DTH subscriber; unchanged if it is not Valid
	Valid             bool   // false: no possible number; the recharge fails with invalid_number
	RequestedOperator string // canonical name of the operator; empty for auto
	Amount            schema.Paise
	Caller            httpapi.Who
	// WaitFull makes the request wait its full time. Otherwise it returns early if the next
	// enquiry is later than that, although a callback may arrive before.
	WaitFull bool
	// Item is the batch item that the recharge belongs to; nil if there is none.
	Item *BatchItem
}

// BatchItem identifies a record of a batch.
type BatchItem struct {
	Batch string
	Index int
}

// Record is a stored recharge.
type Record struct {
	ID                string
	Owner             schema.Owner
	RefID             string
	State             schema.RechargeState
	Type              schema.RechargeType
	Number            string // masked when Digest is not nil
	Digest            []byte // keyed hash of the number, once it is masked
	RequestedOperator string
	Operator          string
	Circle            string
	Detection         string // lookup, series or ""
	Amount            schema.Paise
	Provider          string
	Reference         string
	ProviderRef       string
	Sent              bool
	SentAt            time.Time // when it was last sent or, during that call, the latest possible time; zero for never
	Tries             int
	PendingEventSent  bool
	ErrorCode         schema.Code
	ErrorMessage      string
	Alarm             string
	RefundID          string
	RefundReason      string
	Batch             BatchItem // zero if there is none
	CreatedAt         time.Time
	FinishedAt        time.Time // zero while pending
	RefundedAt        time.Time // zero unless refunded
}
