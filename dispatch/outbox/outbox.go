// Package outbox keeps what happened until it has been told on. An event is a row
// in the transaction of the change that it is about: there is no event without
// its change, and no change without its event. The relay brings events on, in
// order within an account, and forgets that it has to only when they are safe.
package outbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/encryption"
	"vayu/internal/leader"
	"vayu/internal/sqlstore"
	"vayu/internal/tracing"
	"vayu/schema"
)

// Event is what happened, as it is brought on.
type Event struct {
	ID        string // evt_ + ULID: rises with time
	Account   string
	World     schema.World
	Type      schema.EventType
	CreatedAt time.Time
	Envelope  []byte // JSON; never changed
	Trace     string // in which it happened, as package trace carries it; empty for none
}

// Publisher is where the relay brings events.
type Publisher interface {
	// Publish brings a batch on and returns those of its events that are safe
	// there, in their order, also beside an error. Those that are not are brought
	// again, so an event may come twice. Events of one account come in their order:
	// after one that was not safe, the relay brings no later one of its account
	// before it has brought that one again. For the order to hold, Publish must not
	// make an event safe without the earlier ones of its account in the batch. It
	// may begin to send what it returns at once. The batch is the publisher's to keep.
	//
	// With ErrTurn it says that nothing has failed, and that it has done as much as
	// it should before others have their turn: the relay brings events of other
	// accounts, and then those that were not safe again. With ErrSome it says that
	// what has failed is the affair of some accounts, also when the batch had no
	// others: the relay goes on behind it.
	Publish(ctx context.Context, batch []Event) (safe []Event, err error)
}

// ErrTurn and ErrSome are for [Publisher].
var (
	ErrTurn = errors.New("it is the turn of other accounts")
	ErrSome = errors.New("events of some accounts have to wait")
)

// Config is what an Outbox is made of.
type Config struct {
	DB      *sqlstore.DB
	Box     *encryption.Box // seals cursors; may be nil where Routes is not asked for
	Log     *slog.Logger
	Trace   *tracing.Tracer       // nil for none
	Metrics prometheus.Registerer // nil for none
	// Now is the clock; nil for time.Now.
	Now func() time.Time
}

// Outbox appends events, and relays them when it runs.
type Outbox struct {
	Config

	ids     ids
	metrics *metrics
	woken   chan struct{} // holds one: something was committed
	backlog backlog
}

// New returns an outbox that can append at once. It fails when a metric is
// registered already.
func New(c Config) (*Outbox, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	o := &Outbox{Config: c, woken: make(chan struct{}, 1)}
	o.ids.init()
	var err error
	if o.metrics, err = newMetrics(o, c.Metrics); err != nil {
		return nil, err
	}
	return o, nil
}

// Append stores an event to be told to everybody who has subscribed to it, in
// the transaction of its change, and returns its id. Data is marshalled here,
// once and for all; it must be a JSON object. Data that has a method Subject() string
// is found by what that returns: the id of what the event is about. When the
// transaction has committed, the relay of this process is woken. An error fails the change.
//
// Ids rise in the order of calls. On SQLite that is the order of commits; on
// PostgreSQL two changes that run at the same time may commit in the other order,
// and those of two processes be numbered by clocks that differ. What must be told
// in order is in changes of which the second has seen the first.
func (o *Outbox) Append(tx *sqlstore.Tx, account string, world schema.World, event schema.EventType, data any) (id string, err error) {
	e, err := o.Store(tx, account, world, event, data)
	if err != nil {
		return "", err
	}
	if _, err := tx.Exec("INSERT INTO outbox (event_id) VALUES ($1)", e.ID); err != nil {
		return "", fmt.Errorf("appending %s to the outbox: %w", event, err)
	}
	tx.After(o.wake)
	return e.ID, nil
}

// Store is Append for an event that the relay does not bring on, because the
// caller tells it himself.
func (o *Outbox) Store(tx *sqlstore.Tx, account string, world schema.World, event schema.EventType, data any) (Event, error) {
	e, err := o.event(account, world, event, data)
	if err == nil {
		e.Trace = tracing.Carried(tx.Origin())
		_, err = tx.Exec("INSERT INTO event (id, account_id, mode, type, created_at, envelope, subject, trace) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
			e.ID, e.Account, e.World.String(), string(e.Type), e.CreatedAt.UnixMicro(), e.Envelope, subjectOf(data), e.Trace)
	}
	if err != nil {
		return Event{}, fmt.Errorf("storing event %s: %w", event, err)
	}
	return e, nil
}

// wake tells the relay of this process that there is something to bring on.
func (o *Outbox) wake() {
	select {
	case o.woken <- struct{}{}:
	default:
	}
}

// leadName is what instances agree on with package lead.
const leadName = "outbox"

// Run brings events to a publisher until ctx ends, while this instance leads,
// and deletes those that are over. It returns when ctx has ended and the
// publisher has returned.
func (o *Outbox) Run(ctx context.Context, to Publisher) error {
	beside, done := context.WithCancel(ctx)
	var watching sync.WaitGroup
	watching.Go(func() { o.watch(beside) })
	defer watching.Wait()
	defer done()
	return leader.Run(ctx, leader.Config{DB: o.DB, Name: leadName, Log: o.Log, Metrics: o.Metrics}, func(ctx context.Context, _ leader.Fence) error {
		var purging sync.WaitGroup
		defer purging.Wait()
		purging.Go(func() { o.purge(ctx) })
		o.relay(ctx, to)
		return nil
	})
}
