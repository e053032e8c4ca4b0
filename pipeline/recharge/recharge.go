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
	"vayu/internal/sqlstore"
	"vayu/internal/tracing"
	"vayu/pipeline/recharge/order"
	"vayu/pipeline/recharge/record"
	"vayu/pipeline/recharge/settle"
	"vayu/pipeline/transaction"
	"vayu/schema"
)

// Config configures a [Service].
type Config struct {
	DB     *sqlstore.DB
	Box    *encryption.Cipher // for masked numbers and Idempotency-Keys
	Events transaction.Events
	// Connections are the providers of both worlds, live and sandbox.
	Connections []order.Connection
	// BatchShare is the maximum number of batch items in flight.
	BatchShare int
	// MaskAfter is the time from the last change of a settled recharge to the masking of its
	// number; 0 disables masking.
	MaskAfter time.Duration
	Log       *slog.Logger          // nil for none
	Trace     *tracing.Tracer       // nil for none
	Metrics   prometheus.Registerer // nil for none
	// Now is the clock; nil for time.Now.
	Now func() time.Time
}

// Service carries out recharges. Its handlers may be called once the store is ready. Run
// makes the calls of recharges that become due.
type Service struct {
	Config
	*transaction.Core[record.Record, *record.Record]

	settler     settle.Settler
	metrics     *metrics
	connections []*connection
}

// New returns a service that is idle until Run. It fails if two connections have
// the same name, or if a connection has no operator, no timeout or no concurrency. It panics
// if a metric is already registered.
func New(c Config) (*Service, error) {
	c.Now = transaction.WallClock(c.Now)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	s := &Service{Config: c, Core: transaction.NewCore(kind, transaction.Options{
		DB: c.DB, Log: c.Log, Trace: c.Trace, Metrics: c.Metrics, Now: c.Now,
	})}
	s.metrics = newMetrics(s.Core.Metrics)
	s.settler = settle.Settler{DB: c.DB, Events: c.Events, Now: c.Now, Waiters: s.Waiters, Provider: s.poolOf, Observe: s.observeResult}
	for i := range c.Connections {
		if err := s.connect(c.Connections[i]); err != nil {
			return nil, fmt.Errorf("connecting %s: %w", c.Connections[i].Name, err)
		}
	}
	return s, nil
}

// kind describes recharges as transactions.
var kind = transaction.Kind[record.Record, *record.Record]{
	Table: record.Table, List: "recharges", Metrics: "vayu_recharge_", Actor: actor, Reread: time.Second,
	Claimed: failpoint.RechargeClaimed, Created: failpoint.RechargeCreated, States: transaction.Names(schema.RechargeStates),
	Reply: func(r *record.Record) any { return record.Reply(r) },
	Detail: func(r *record.Record, calls schema.ProviderCalls) any {
		return schema.RechargeDetail{Recharge: record.Reply(r), ProviderCalls: calls, Alarm: r.Alarm}
	},
	Summary: record.Summary,
}
