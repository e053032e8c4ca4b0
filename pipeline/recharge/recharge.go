// Package recharge tops up mobiles and DTH boxes. Money moves exactly once, although operators time out, or answer
// late, twice or wrongly. A recharge and its reserved amount are durable before the first call to an operator. A
// status enquiry precedes each resend. A state changes by compare-and-set, in one transaction with its postings, its
// event and its audit row.
package recharge

import (
	"context"
	"errors"
	"fmt"
	"time"

	"vayu/internal/config"
	"vayu/internal/failpoint"
	"vayu/internal/workqueue"
	"vayu/pipeline/recharge/order"
	"vayu/pipeline/recharge/record"
	"vayu/pipeline/recharge/request"
	"vayu/pipeline/recharge/settle"
	"vayu/pipeline/transaction"
	"vayu/schema"
)

// Config configures a [Service].
type Config struct {
	transaction.Options // the Cipher is for masked numbers and Idempotency-Keys

	// Connections are the providers of both worlds, live and sandbox.
	Connections []order.Connection
	Settings    Settings
}

// Service carries out recharges. Its handlers may be called once the store is ready. Run
// makes the calls of recharges that become due.
type Service struct {
	*transaction.Core[record.Record, *record.Record]

	settings    Settings
	settler     settle.Settler
	metrics     *metrics
	connections []*order.Connection
}

// New returns a service that is idle until Run. It fails if two connections have the same name, or if a connection
// has no operator, no timeout or no concurrency.
func New(c Config) (*Service, error) {
	s := &Service{Core: transaction.NewCore(kind, c.Options), settings: c.Settings}
	s.metrics = newMetrics(s.Core.Metrics)
	s.settler = settle.Settler{Options: s.Options, Waiters: s.Waiters, Link: s.Core.Link, Observe: s.observeResult}
	for _, conn := range c.Connections {
		if err := s.connect(conn); err != nil {
			return nil, fmt.Errorf("connecting %s: %w", conn.Name, err)
		}
	}
	return s, nil
}

func (s *Service) connect(conn order.Connection) error {
	if conn.Operator == nil {
		return errors.New("the connection has no operator")
	}
	s.connections = append(s.connections, &conn)
	return s.Core.Connect(&conn.Link, func(claim workqueue.Claim[record.Record]) {
		go s.runJob(job{Connection: &conn, rec: claim.Record, call: nextCall(&claim.Record, claim.First), lease: claim.Lease})
	})
}

// kind describes recharges as one kind of transactions, for package transaction.
var kind = transaction.Kind[record.Record, *record.Record]{
	Table: record.Table, List: "recharges", Metrics: "vayu_recharge_", Actor: actor, Reread: time.Second,
	Claimed: failpoint.RechargeClaimed, Created: failpoint.RechargeCreated, States: transaction.Names(schema.RechargeStates),
	Narrow: request.Narrow, Reply: func(r *record.Record) any { return record.Reply(r) },
	Detail: func(r *record.Record, calls schema.ProviderCalls) any {
		return schema.RechargeDetail{Recharge: record.Reply(r), ProviderCalls: calls, Alarm: r.Alarm}
	},
	Summary: record.Summary,
}

// route returns the first connection that serves an operator and is available. If none is available, `ok` is false, and
// `conn` is the first connection that serves the operator, or nil.
func (s *Service) route(world schema.World, operator string) (conn *order.Connection, ok bool) {
	return transaction.Route(s.connections, world, func(conn *order.Connection) bool { return conn.Serves(operator) })
}

// Callbacks returns the callback handlers, by the name of the provider that sends the callbacks.
func (s *Service) Callbacks() map[string]transaction.Callback {
	receiver := func(conn *order.Connection) transaction.Receiver[order.Answer] { return conn.Receiver }
	return transaction.CallbacksOf(s.connections, s.Now, receiver, s.Settle)
}

// Run makes the calls that are due and masks the numbers of old recharges until ctx ends.
// Then it waits for the calls in flight.
func (s *Service) Run(ctx context.Context) error {
	if err := s.DB.Ready(ctx); err != nil {
		return nil //nolint:nilerr // ctx ended before the store was ready
	}
	_ = s.warnStranded(ctx) // a failure log has the error
	s.Core.RunWith(ctx, s.maskLoop)
	return nil
}

// warnStranded logs the providers that have pending recharges, but are no longer configured.
func (s *Service) warnStranded(ctx context.Context) error {
	return s.Core.EachPending(ctx, func(world schema.World, provider string, pending int64) error {
		if s.Core.Link(world, provider) == nil {
			s.Log.WarnContext(ctx, "recharges are pending with a provider that is not configured; they stay so until it is again",
				"provider", provider, "world", world.String(), "pending", pending)
		}
		return nil
	})
}

// Settings configure the providers of recharges.
type Settings struct {
	Operators []string      `yaml:"operators" help:"files that describe operators or aggregators; live recharges need at least one"`
	BatchRoom int           `yaml:"batch-room" help:"records of batches under way at once"`
	MaskAfter time.Duration `yaml:"mask-after" help:"how long after its last change the number of a settled recharge is masked; 0 for never"`
}

// DefaultSettings returns settings without operators. A batch item in flight occupies a goroutine, so 256 items use a
// few megabytes. Usually the concurrency of connections already limits batches to fewer items. Numbers are masked
// after half a year, because operators reverse or dispute a recharge within that time.
func DefaultSettings() Settings { return Settings{BatchRoom: 256, MaskAfter: 180 * 24 * time.Hour} }

const (
	maxBatchRoom = 10_000
	// minMaskAfter is the minimum of MaskAfter. A recharge needs its number until it is reconciled with the operator's
	// file. Operators send the file of a day on the next day.
	minMaskAfter = 24 * time.Hour
)

// Validate returns every fault, each with its key.
func (s Settings) Validate() []error {
	var f config.Faults
	f.Check(s.BatchRoom >= 1 && s.BatchRoom <= maxBatchRoom, "batch-room", "must be 1 to %d", maxBatchRoom)
	f.Check(s.MaskAfter == 0 || s.MaskAfter >= minMaskAfter, "mask-after", "must be 0, for never, or at least %s", minMaskAfter)
	return f
}
