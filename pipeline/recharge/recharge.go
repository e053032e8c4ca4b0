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
	"vayu/pipeline/transaction"
	"vayu/schema"
)

// Config configures a [Service].
type Config struct {
	DB     *sqlstore.DB
	Box    *encryption.Cipher // for masked numbers and Idempotency-Keys
	Events transaction.Events
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

// Service carries out recharges. Its handlers may be called once the store is ready. Run
// advances the pending recharges.
type Service struct {
	Config
	*transaction.Core[Record, *Record]

	metrics     *metrics
	connections []*connection
}

// New returns a service that is idle until Run. It fails if a metric is registered
// already, or if two connections have the same name. It also fails if a connection has no
// operator, no timeout or no concurrency.
func New(c Config) (*Service, error) {
	c.Now = transaction.WallClock(c.Now)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	s := &Service{Config: c, Core: transaction.NewCore(kind, transaction.Options{
		DB: c.DB, Log: c.Log, Trace: c.Trace, Metrics: c.Metrics, Now: c.Now,
	})}
	s.metrics = newMetrics(s.Core.Metrics)
	if err := s.metrics.Register(c.Metrics); err != nil {
		return nil, err
	}
	for i := range c.Connections {
		if err := s.connect(c.Connections[i]); err != nil {
			return nil, fmt.Errorf("connecting %s: %w", c.Connections[i].Name, err)
		}
	}
	return s, nil
}

// recharges describes the table `recharge` for package transaction.
var recharges = &transaction.Table[Record, *Record]{
	Name: "recharge", Columns: columns, Prefix: idPrefix, Unindexed: string(schema.RechargeSuccess), Scan: scanRecord, Missing: errNoRecharge,
}

// kind describes recharges as transactions.
var kind = transaction.Kind[Record, *Record]{
	Table: recharges, List: "recharges", Metrics: "vayu_recharge_", Actor: actor, Reread: time.Second,
	Claimed: failpoint.RechargeClaimed, Created: failpoint.RechargeCreated, States: transaction.Names(schema.RechargeStates),
	Reply: func(r *Record) any { return replyOf(r) },
	Detail: func(r *Record, calls schema.ProviderCalls) any {
		return schema.RechargeDetail{Recharge: replyOf(r), ProviderCalls: calls, Alarm: r.Alarm}
	},
	Summary: summaryOf,
}

// Request is the request for one recharge. Its fields are validated; neither store nor
// provider was consulted yet.
type Request struct {
	Owner             schema.Owner
	RefID             string
	Type              schema.RechargeType
	Number            string // ten digits, or the id of a DTH subscriber; unchanged if it is not Valid
	Valid             bool   // false if the number is impossible; the recharge then fails with invalid_number
	RequestedOperator string // canonical name of the operator; empty for auto
	Amount            schema.Paise
	Caller            httpapi.Who
	// WaitFull makes the request wait its full time. Otherwise it returns early if the next
	// enquiry is later than that, although a callback may arrive before.
	WaitFull bool
	// Item is the batch item that the recharge belongs to; nil if there is none.
	Item *transaction.BatchItem
}

// Record is a stored recharge.
type Record struct {
	transaction.Base

	State             schema.RechargeState
	Type              schema.RechargeType
	Number            string // masked when Digest is not nil
	Digest            []byte // keyed hash of the number, once it is masked
	RequestedOperator string
	Operator          string
	Circle            string
	Detection         string // lookup, series or ""
	Amount            schema.Paise
	Reference         string
	PendingEventSent  bool
	ErrorMessage      string
	Alarm             string
	RefundID          string
	RefundReason      string
	RefundedAt        time.Time // zero unless refunded
}

// Status returns the state as a string. It is for package transaction.
func (r *Record) Status() string { return string(r.State) }
