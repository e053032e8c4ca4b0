// Package dispatch sends webhooks. It turns events into deliveries, attempts them with
// retries on a fixed schedule, and records the results.
//
//	event -> accept: a delivery for each subscription, stored -> lanes -> attempt -> record: delivered, waiting or failed
//
// A lane is the queue of one endpoint in memory. It has a few deliveries that wait for their attempt, and counts the
// attempts in flight. An instance leases a delivery before it puts the delivery into a lane. After a crash of the
// instance, these deliveries are due again when their leases expire.
package dispatch

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/dispatch/delivery"
	"vayu/dispatch/scheduler"
	"vayu/dispatch/sender"
	"vayu/dispatch/subscription"
	"vayu/internal/sqlstore"
	"vayu/internal/tracing"
	"vayu/internal/workqueue"
	"vayu/schema"
)

// Config configures a Service.
type Config struct {
	Settings
	DB            *sqlstore.DB
	Subscriptions *subscription.Cache
	Sender        *sender.Sender
	// Number returns the unmasked mobile number of a transaction; "" for none. It is called only for subscriptions with
	// unmasked numbers, and must be safe for concurrent use.
	Number  func(ctx context.Context, of schema.Owner, transaction string) (string, error)
	Log     *slog.Logger
	Trace   *tracing.Tracer       // nil for none
	Metrics prometheus.Registerer // nil for none
	// Now is the clock; nil for time.Now.
	Now func() time.Time
}

const (
	// attemptTimeout bounds the duration of an attempt. The documentation of the API states this value.
	attemptTimeout = 5 * time.Second
	// margin is the tolerated clock skew between instances.
	margin = 2 * time.Second
	// lease is the duration of a lease. It exceeds the sum of attemptTimeout and margin by 5 s. A delivery can wait in
	// memory for these 5 s before its attempt must start.
	lease = 12 * time.Second
)

// failingStarts limits how many attempts at failing endpoints start per second. Each attempt costs
// about 0.3 ms of CPU time, so 100 of them leave most of a core to other endpoints.
const failingStarts = 100

// Service turns events into deliveries, attempts them and records the results. It is safe for concurrent use.
type Service struct {
	Config
	metrics *metrics
	tokens  *workqueue.Tokens

	mu    sync.Mutex
	queue *scheduler.Queue[*work]

	sendSignal       chan struct{} // wakes the method sendLoop
	claimSignal      chan struct{} // wakes the method claimLoop
	outcomes         chan *delivery.Outcome
	attempts         sync.WaitGroup
	stopping         atomic.Bool
	recordingStalled atomic.Bool   // the store rejects writes, so outcomes wait in the channel
	stopped          chan struct{} // closed when the time for recording outcomes at a stop (recordDrain) is over
}

// work is a delivery in memory with its lease token.
type work struct {
	delivery.Row

	token string
}

// New returns a service. The caller starts it with Run. New panics if a metric is already registered.
func New(c Config) *Service {
	if c.Now == nil {
		c.Now = time.Now
	}
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	s := &Service{
		Config: c, tokens: workqueue.NewTokens(), sendSignal: make(chan struct{}, 1), claimSignal: make(chan struct{}, 1), stopped: make(chan struct{}), outcomes: make(chan *delivery.Outcome, c.InFlight),
		queue: scheduler.New[*work](scheduler.Limits{
			Lane: c.Concurrency, Host: c.HostInFlight, All: c.InFlight, HostOf: c.hostOf, Unproven: c.HostUnproven,
			Timeout: attemptTimeout, Margin: margin, Starts: c.InFlight / 2, FailingStarts: failingStarts,
		}),
	}
	s.metrics = newMetrics(s, c.Metrics)
	return s
}

// Run makes and records attempts until ctx ends. Then it waits for the end of the attempts in
// flight, and releases the leases of the deliveries in memory that were not attempted.
func (s *Service) Run(ctx context.Context) error {
	recorded := make(chan struct{})
	go func() {
		defer close(recorded)
		s.recordLoop(context.WithoutCancel(ctx))
	}()
	var loops sync.WaitGroup
	loops.Go(func() { s.discoverLoop(ctx) })
	loops.Go(func() { s.claimLoop(ctx) })
	loops.Go(func() { s.sendLoop(ctx) })
	loops.Wait()
	s.stopping.Store(true)
	s.attempts.Wait() // each attempt ends by its own timeout
	last := time.AfterFunc(recordDrain, func() { close(s.stopped) })
	defer last.Stop()
	close(s.outcomes)
	<-recorded
	s.Sender.Close()
	return s.releaseBuffered(context.WithoutCancel(ctx))
}

// Wake records in the queue that the store has a due delivery of the subscription. The queue then claims it without
// waiting for the next query of the store.
func (s *Service) Wake(webhook string) {
	now := s.Now()
	s.mu.Lock()
	s.queue.Due(webhook, now)
	s.mu.Unlock()
	signal(s.claimSignal)
}

// newLease returns a lease with a unique token.
func (s *Service) newLease(now time.Time) workqueue.Lease {
	return s.tokens.Lease(now.Add(lease))
}

// signal wakes the loop that receives from the channel `loop`.
func signal(loop chan struct{}) {
	select {
	case loop <- struct{}{}:
	default: // already signalled
	}
}
