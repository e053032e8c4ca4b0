// Package outbox implements the transactional outbox. An event is a row that is inserted in the same transaction as the
// change that it records. So neither exists without the other. The relay publishes the events of an account in order.
// It removes an event from the outbox only after the publisher has acknowledged the event.
package outbox

import (
	"cmp"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/sqlstore"
	"vayu/internal/tracing"
	"vayu/schema"
)

// Event is a record of a change, in the form in which it is published.
type Event struct {
	ID        string // evt_ and a ULID, so ids ascend with time
	Account   string
	World     schema.World // live or sandbox
	Type      schema.EventType
	CreatedAt time.Time
	Envelope  []byte // JSON; read-only
	Trace     string // W3C trace context of the change; empty for none
}

// Config configures an Outbox.
type Config struct {
	DB      *sqlstore.DB
	Log     *slog.Logger
	Trace   *tracing.Tracer       // nil for none
	Metrics prometheus.Registerer // nil for none
	// Now is the clock; nil for time.Now.
	Now func() time.Time
}

// Outbox stores events. Its method Run publishes them.
type Outbox struct {
	Config

	ids        ids
	metrics    *metrics
	wakeSignal chan struct{}           // wakes the relay after the commit of an event; its capacity is one
	backlog    atomic.Pointer[backlog] // nil before Run
}

// New returns an outbox. Append works before Run is called. New panics if a metric is already registered.
func New(c Config) *Outbox {
	if c.Now == nil {
		c.Now = time.Now
	}
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	o := &Outbox{Config: c, wakeSignal: make(chan struct{}, 1)}
	o.ids.init()
	o.metrics = newMetrics(o, c.Metrics)
	return o
}

// Append stores an event in the transaction of the change that the event records, and returns the event id. `data` must
// marshal to a JSON object. If it has a method Subject() string, clients can search for the event by that subject. The
// commit wakes the relay of this process. If Append fails, the caller must roll the transaction back.
//
// Within a process, ids ascend in the order of calls. On SQLite that is the order of commits. On PostgreSQL concurrent
// changes may commit in another order, and ids of two processes depend on their clocks. So the order of two events
// there is certain only if one process makes both changes, and the second change has read the first change.
func (o *Outbox) Append(tx *sqlstore.Tx, account string, world schema.World, event schema.EventType, data any) (id string, err error) {
	e, err := o.Store(tx, account, world, event, data)
	if err != nil {
		return "", err
	}
	if _, err := tx.Expect(1, "INSERT INTO outbox (event_id, partition) VALUES ($1, $2)", e.ID, partitionOf(account)); err != nil {
		return "", fmt.Errorf("appending %s to the outbox: %w", event, err)
	}
	tx.OnCommit(o.wake)
	return e.ID, nil
}

// Store stores an event like Append, but not in the outbox. So the relay does not publish it: the caller delivers it.
func (o *Outbox) Store(tx *sqlstore.Tx, account string, world schema.World, event schema.EventType, data any) (Event, error) {
	e, err := o.event(account, world, event, data)
	if err == nil {
		e.Trace = tracing.Traceparent(tx.CallerContext())
		_, err = tx.Expect(1, "INSERT INTO event (id, account_id, mode, type, created_at, envelope, subject, trace) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
			e.ID, e.Account, e.World.String(), string(e.Type), e.CreatedAt.UnixMicro(), e.Envelope, subjectOf(data), e.Trace)
	}
	if err != nil {
		return Event{}, fmt.Errorf("storing event %s: %w", event, err)
	}
	return e, nil
}

func (o *Outbox) wake() {
	select {
	case o.wakeSignal <- struct{}{}:
	default:
	}
}
