// Package transaction has the life cycle that recharges and verifications share. A transaction is a row, which is
// durable before the first call to its provider. The results of calls and callbacks bring the transaction to a final
// state. A request can wait for that state. Each kind has its own table, its own transitions and its own events.
package transaction

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/encryption"
	"vayu/internal/failpoint"
	"vayu/internal/sqlstore"
	"vayu/internal/tracing"
	"vayu/internal/workqueue"
	"vayu/schema"
)

// Base is the part of a record that every kind of transaction has. A record embeds it.
type Base struct {
	ID          string
	Owner       schema.Owner
	RefID       string // "" for none
	Provider    string
	ProviderRef string
	Sent        bool      // the order may have been sent
	SentAt      time.Time // start of the last sending call, or its latest possible start; zero for none
	Tries       int       // calls without a final outcome
	ErrorCode   schema.Code
	Batch       BatchItem // zero if there is none
	CreatedAt   time.Time
	FinishedAt  time.Time // zero while pending
}

// BatchItem identifies a record of a batch.
type BatchItem struct {
	Batch string
	Index int
}

// Shared returns the base of a record that embeds it.
func (b *Base) Shared() *Base { return b }

// InBatch reports whether a transaction is a batch item.
func (b *Base) InBatch() bool { return b.Batch.Batch != "" }

// Record is the constraint for the type of pointers to R, the records of one kind of transactions.
type Record[R any] interface {
	*R

	Shared() *Base
	Status() string // the state
}

const pendingState = "pending"

// Kind describes one kind of transactions, such as recharges.
type Kind[R any, P Record[R]] struct {
	*Table[R, P]

	List    string   // name of the list: "recharges"
	Metrics string   // prefix of its metrics: "vayu_recharge_"
	Actor   string   // name of its providers in traces: "operator"
	States  []string // all states
	Narrow  Narrow   // nil if the list has no parameters of its own
	// Reread is the interval at which a waiting request reads the row, because another
	// instance may have recorded the outcome.
	Reread time.Duration
	// Claimed and Created name the failpoints after a claim, and after a new transaction.
	Claimed, Created string
	// Reply returns the JSON value of a transaction in replies. Detail adds the calls to the transaction's provider.
	Reply  func(P) any
	Detail func(P, schema.ProviderCalls) any
	// Summary returns the steps that follow from the row of a transaction. `hasSteps` means that the table of steps has
	// further steps. If not, an older version may have made the row: it did not store the answers to polls.
	Summary func(r P, hasSteps bool) *Summary
}

// Narrow reads the query parameters that only the list of one kind of transactions has. It returns [Filter.Number] and
// [Filter.Where], and adds the errors of the parameters to `faults`.
type Narrow func(faults *schema.RequestErrors, params map[string]string) (number, where string)

// Events appends events for an account's webhooks, in the transaction of the change that they record.
type Events interface {
	Append(tx *sqlstore.Tx, account string, world schema.World, event schema.EventType, data any) (id string, err error)
}

// Options are the dependencies of a service of transactions.
type Options struct {
	DB       *sqlstore.DB
	Cipher   *encryption.Cipher
	Events   Events
	Log      *slog.Logger          // nil for none
	Trace    *tracing.Tracer       // nil for none
	Registry prometheus.Registerer // of metrics; nil for none
	Now      func() time.Time      // nil for time.Now
}

// Core is the part of a service that all kinds of transactions share. A service embeds a Core.
type Core[R any, P Record[R]] struct {
	Options

	Queue   *workqueue.Queue[R]
	Waiters *Waiters[Update[R]] // waiters by transaction id
	Metrics *Metrics

	kind  Kind[R, P]
	links []*Link
}

// NewCore returns a core without providers. The core's clock returns times without a monotonic part, because a
// monotonic clock stops while the machine is suspended.
func NewCore[R any, P Record[R]](kind Kind[R, P], o Options) *Core[R, P] {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	now := o.Now
	if now == nil {
		now = time.Now
	}
	o.Now = func() time.Time { return now().Round(0) }
	m := newMetrics(kind.List, kind.Metrics, o.Log, o.Registry)
	return &Core[R, P]{
		Options: o, Waiters: NewWaiters[Update[R]](), Metrics: m, kind: kind,
		Queue: workqueue.New(workqueue.Config[R]{
			DB: o.DB, Table: workqueue.Table[R]{Name: kind.Name, Columns: kind.Columns, Scan: kind.Scan}, ClaimFailures: m.claims,
			OnClaimed: func() { failpoint.Point(kind.Claimed) }, Log: o.Log, Now: o.Now,
		}),
	}
}

// Find returns a transaction by its id. The error is not_found if the owner has none with this id.
func (c *Core[R, P]) Find(ctx context.Context, o schema.Owner, id string) (R, error) {
	var none R
	if !schema.IsID(id) {
		return none, c.kind.Missing
	}
	r, found, err := c.kind.Get(c.DB.View(ctx), id)
	switch {
	case err != nil:
		return none, err
	case !found || P(&r).Shared().Owner != o:
		return none, c.kind.Missing
	}
	return r, nil
}

// Link returns the link to the provider with a name in a world (live or sandbox); nil if there is none.
func (c *Core[R, P]) Link(world schema.World, name string) *Link {
	for _, l := range c.links {
		if l.World == world && l.Name == name {
			return l
		}
	}
	return nil
}

// CloseWaiters ends all current and future waits for results, so that a stopping server does not
// wait for clients. It is idempotent.
func (c *Core[R, P]) CloseWaiters() { c.Waiters.Close() }

// Names converts states to strings.
func Names[S ~string](states []S) []string {
	names := make([]string, len(states))
	for i, s := range states {
		names[i] = string(s)
	}
	return names
}
