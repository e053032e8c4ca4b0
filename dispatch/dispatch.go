// Package dispatch tells subscribers what happened: it turns events into
// deliveries, makes their attempts on the table of spec 6.4, and records what
// became of them.
//
//	event -> Accept: a delivery for each subscription, stored -> lanes -> attempt -> record: delivered, waiting or failed
//
// What is under way is in memory, all else in the store: an instance leases what
// it is about to send, and what it leaves behind when it dies is due again when
// the lease is over.
package dispatch

import (
	"context"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/prometheus/client_golang/prometheus"

	"vayu/dispatch/delivery"
	"vayu/dispatch/scheduler"
	"vayu/dispatch/sender"
	"vayu/dispatch/subscription"
	"vayu/internal/sqlstore"
	"vayu/internal/tracing"
	"vayu/schema"
)

// Config is what a Service is made of.
type Config struct {
	Settings
	DB            *sqlstore.DB
	Subscriptions *subscription.Book
	Sender        *sender.Sender
	// Number returns the clear number of a transaction of an owner, for subscriptions
	// that ask for it; "" when there is none. It must be safe for concurrent use.
	Number  func(ctx context.Context, of schema.Owner, transaction string) (string, error)
	Log     *slog.Logger
	Trace   *tracing.Tracer       // nil for none
	Metrics prometheus.Registerer // nil for none
	// Now is the clock; nil for time.Now.
	Now func() time.Time
}

// Times of leases. A delivery that is taken waits for at most what lease leaves
// beside an attempt and margin; an instance that dies is replaced after lease.
// Clocks of instances may differ by margin.
const (
	attemptTimeout = 5 * time.Second // spec 8
	margin         = 2 * time.Second
	lease          = 12 * time.Second
)

// failingStarts is how many attempts a second start at all endpoints that refuse what
// they get. An attempt costs about 0.3 ms of a processor with its claim and its record,
// so 100 leave the rest of it to endpoints that acknowledge.
const failingStarts = 100

// hostOf is the host and port of a subscription; "" for one that is not known.
func (c Config) hostOf(webhook string) string {
	if sub := c.Subscriptions.Get(webhook); sub != nil {
		return sub.Host
	}
	return ""
}

// Service makes deliveries.
type Service struct {
	Config
	metrics *metrics
	token   string // what the tokens of this instance's leases begin with
	claims  atomic.Uint64

	mu    sync.Mutex
	queue *scheduler.Queue[*work]

	ready    chan struct{} // something may be to be sent
	hungry   chan struct{} // something may be to be claimed or given back
	outcomes chan *delivery.Outcome
	attempts sync.WaitGroup
	stopping atomic.Bool
	behind   atomic.Bool   // outcomes wait, because the store could not write
	stopped  chan struct{} // closed when recording must be over
}

// work is a delivery in memory, with its lease.
type work struct {
	delivery.Row

	token string
}

// New returns a service that does nothing yet. It fails when a metric is
// registered already.
func New(c Config) (*Service, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	s := &Service{
		Config: c, token: ulid.Make().String(), ready: make(chan struct{}, 1), hungry: make(chan struct{}, 1), stopped: make(chan struct{}), outcomes: make(chan *delivery.Outcome, c.InFlight),
		queue: scheduler.New[*work](scheduler.Limits{
			Lane: c.Concurrency, Host: c.HostInFlight, All: c.InFlight, HostOf: c.hostOf, Unproven: c.HostUnproven,
			Timeout: attemptTimeout, Margin: margin, Starts: c.InFlight / 2, FailingStarts: failingStarts,
		}),
	}
	var err error
	if s.metrics, err = newMetrics(s, c.Metrics); err != nil {
		return nil, err
	}
	return s, nil
}

// Run makes attempts and records them until ctx ends. Then it begins no more,
// waits for those under way, and gives back what it has leased and not sent.
func (s *Service) Run(ctx context.Context) error {
	recorded := make(chan struct{})
	go func() {
		defer close(recorded)
		s.record(context.WithoutCancel(ctx))
	}()
	var loops sync.WaitGroup
	loops.Go(func() { s.discover(ctx) })
	loops.Go(func() { s.fetch(ctx) })
	loops.Go(func() { s.send(ctx) })
	loops.Wait()
	s.stopping.Store(true)
	s.attempts.Wait() // each ends by its own time-out
	last := time.AfterFunc(recordLast, func() { close(s.stopped) })
	defer last.Stop()
	close(s.outcomes)
	<-recorded
	s.Sender.Close()
	return s.giveBack(context.WithoutCancel(ctx))
}

// newLease is a lease with a token that no other claim has.
func (s *Service) newLease(now time.Time) delivery.Lease {
	return delivery.Lease{Token: s.token + "." + strconv.FormatUint(s.claims.Add(1), 36), Until: now.Add(lease)}
}

// Wake tells of a subscription that has something due now.
func (s *Service) Wake(webhook string) {
	now := s.Now()
	s.mu.Lock()
	s.queue.Due(webhook, now)
	s.mu.Unlock()
	nudge(s.hungry)
}

// nudge lets a loop look again.
func nudge(loop chan struct{}) {
	select {
	case loop <- struct{}{}:
	default: // it has been told
	}
}
