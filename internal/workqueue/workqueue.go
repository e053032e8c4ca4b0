// Package workqueue claims, renews and releases jobs. A job is a table row with a due time and the token of its lease.
// When a lease expires, any instance may claim the row. [Leases] has the SQL statements. [Queue] runs a loop for each
// provider. The loop leases due rows while the provider's [Pool] has free slots. One slot is one concurrent call. A row
// that is not due costs no goroutine.
package workqueue

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"vayu/internal/failurelog"
	"vayu/internal/sleep"
	"vayu/internal/sqlstore"
)

const (
	// LeaseMargin is the time by which a lease outlasts the timeout of its call. In this time, the result is recorded.
	// LeaseMargin also allows for clock skew.
	LeaseMargin = 30 * time.Second
	// RecordTimeout bounds the recording of a result. It ends before the lease does.
	RecordTimeout = LeaseMargin - 5*time.Second
	// RetryPause is the time until the loop polls again after an error of the store, or while the provider is
	// unavailable.
	RetryPause = time.Second
	// ShutdownGrace is how long calls in flight may continue when the service stops. Then they are cancelled.
	ShutdownGrace = 10 * time.Second
	// maxPollInterval bounds the time between two polls of a loop, because a row that another instance or a command
	// makes due does not wake the loop.
	maxPollInterval = 5 * time.Second
)

// Table describes the table of a work queue. The table, such as "recharge", has the columns id, mode, provider, due_at,
// token, sent, sent_at and batch_id. It has one index of (mode, provider, due_at) for batch items, and another for
// single requests.
type Table[R any] struct {
	Name    string
	Columns string
	Scan    func(sqlstore.Scanner) (R, error) // scans a row of Columns
}

// Config configures [Queue].
type Config[R any] struct {
	DB    *sqlstore.DB
	Table Table[R]
	// ClaimFailures records failures to claim due rows.
	ClaimFailures *failurelog.Log
	// OnClaimed is called after rows were leased and before their calls start. It may be nil.
	OnClaimed func()
	Log       *slog.Logger
	Now       func() time.Time
}

// Claim is a leased row. First means that no earlier lease can have sent the row's request to the provider.
type Claim[R any] struct {
	Record R
	First  bool
	Lease  Lease
	batch  bool
}

// Queue has the pools of all providers of a service. For each pool it runs a loop that claims due
// jobs and starts them in the free slots.
type Queue[R any] struct {
	Config[R]

	state       poolState
	pools       []*Pool
	begin       []func(Claim[R]) // begin functions of Add, in the order of pools
	sql         statements
	calls       context.Context // context of all calls; ends if calls still run ShutdownGrace after a stop
	cancelCalls context.CancelFunc
	tokens      *Tokens
}

// poolState is the state that all pools share. Its mutex guards the fields of each pool, too.
type poolState struct {
	sync.Mutex

	stopped bool           // no further call starts
	calls   sync.WaitGroup // counts acquired slots
}

// New returns a Queue without providers.
func New[R any](c Config[R]) *Queue[R] {
	s := &Queue[R]{Config: c, tokens: NewTokens(), sql: statementsOf(c.Table.Name, c.Table.Columns)}
	s.calls, s.cancelCalls = context.WithCancel(context.Background()) //nolint:gosec // Run calls it
	return s
}

// Add adds a provider and returns its pool of slots. For each claimed row, the Queue acquires a slot and calls the
// function `begin`. This function must not block: it starts a goroutine that calls the provider. When the call ends,
// the goroutine must release the slot with [Pool.Release]. Add all providers before Run.
func (q *Queue[R]) Add(u Provider, begin func(Claim[R])) (*Pool, error) {
	switch {
	case u.Timeout <= 0:
		return nil, errors.New("the call timeout must be positive")
	case u.Concurrency < 1:
		return nil, errors.New("the concurrency must be at least 1")
	}
	p := &Pool{
		provider: u, state: &q.state, wake: make(chan struct{}, 1), freed: make(chan struct{}, 1),
		maxBatch: max(1, u.Concurrency/2), reservedSlots: max(1, u.Concurrency/4),
	}
	q.pools, q.begin = append(q.pools, p), append(q.begin, begin)
	return p, nil
}

// NewLease returns a lease with a unique token for one call of a pool. The lease ends by the wall clock, like due times
// in the store, because the monotonic clock stops while a machine is suspended.
func (q *Queue[R]) NewLease(p *Pool) Lease {
	return q.tokens.Lease(p.LeaseEnd(q.Now().Round(0)))
}

// Run leases due rows and starts their calls until ctx ends. Then it waits for the calls
// in flight, and cancels them after ShutdownGrace. The store must be ready.
func (q *Queue[R]) Run(ctx context.Context) {
	for {
		err := q.ExpireForeignLeases(ctx)
		q.ClaimFailures.Observe(ctx, err)
		if err == nil || !sleep.For(ctx, RetryPause) {
			break
		}
	}
	var loops sync.WaitGroup
	for i := range q.pools {
		loops.Go(func() { q.pollLoop(ctx, i) })
	}
	loops.Wait()
	q.drain()
}

// RunWithoutPolling replaces Run on an instance that only makes calls for the requests it
// serves. Other instances claim the rows that become due.
func (q *Queue[R]) RunWithoutPolling(ctx context.Context) {
	<-ctx.Done()
	q.drain()
}

// drain prevents further calls and waits for the calls in flight.
func (q *Queue[R]) drain() {
	q.state.Lock()
	q.state.stopped = true
	q.state.Unlock()
	// The provider may have carried out a call that is cancelled here. After the next start, a status enquiry
	// determines the result.
	grace := time.AfterFunc(ShutdownGrace, q.cancelCalls)
	defer grace.Stop()
	q.Wait()
}

// CallContext returns the context for calls to providers. It outlives the request that caused
// a call, because calls continue when the client disconnects.
func (q *Queue[R]) CallContext() context.Context { return q.calls }

// Stopped reports whether the service stops, so that no further call starts.
func (q *Queue[R]) Stopped() bool {
	q.state.Lock()
	defer q.state.Unlock()
	return q.state.stopped
}

// Wait waits until all slots are released.
func (q *Queue[R]) Wait() { q.state.calls.Wait() }

// pollLoop polls for one pool. After a failed poll, pollLoop ignores wake-ups until its pause ends. Otherwise released
// slots would wake pollLoop, which would repeat the failed poll at once.
func (q *Queue[R]) pollLoop(ctx context.Context, i int) {
	p := q.pools[i]
	wake := p.wake
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-wake:
		}
		pause, err := q.poll(ctx, p)
		timer.Reset(pause)
		if wake = p.wake; err != nil {
			wake = nil
		}
	}
}

// Poll claims as many due rows of a pool as slots are free, starts their calls, and returns the time until the next
// poll. Run does the same in a loop.
func (q *Queue[R]) Poll(ctx context.Context, p *Pool) time.Duration {
	pause, _ := q.poll(ctx, p) // ClaimFailures has recorded the error
	return pause
}

// poll does the work of Poll, and also returns the error that it recorded in ClaimFailures.
func (q *Queue[R]) poll(ctx context.Context, p *Pool) (time.Duration, error) {
	if !p.IsAvailable() {
		return RetryPause, nil
	}
	q.state.Lock()
	p.nextPoll = time.Time{} // from here on, WakeAt wakes the loop for any row
	q.state.Unlock()
	next, err := q.claimDue(ctx, p, q.Now())
	q.ClaimFailures.Observe(ctx, err)
	if err != nil {
		return RetryPause, err
	}
	pause := max(0, min(maxPollInterval, next.Sub(q.Now())))
	if next.IsZero() {
		pause = maxPollInterval
	}
	q.state.Lock()
	p.nextPoll = q.Now().Add(pause)
	q.state.Unlock()
	return pause, nil
}
