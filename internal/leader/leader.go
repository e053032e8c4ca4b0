// Package leader elects one of several instances to run a singleton job.
package leader

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"vayu/internal/failurelog"
	"vayu/internal/sleep"
	"vayu/internal/sqlstore"
)

const (
	// leaseTime is the duration of a lease. After a leader's crash, a standby (an instance without the lease) leads
	// within leaseTime plus pollInterval, ten seconds. The leader stops after six seconds without a renewal.
	leaseTime = 9 * time.Second
	// A standby tries to acquire the lease every pollInterval. A leader retries a failed renewal after pollInterval.
	pollInterval = time.Second
	// releaseTimeout limits the time to release the lease when the job ends. A lease that is not released expires.
	releaseTimeout = 2 * time.Second
)

// ErrNotLeader is the error of a [Fence] if this instance's lease has ended: another instance may lead now.
var ErrNotLeader = errors.New("another instance leads now")

// Fence checks in the store that this instance still has its lease. It returns ErrNotLeader if
// the lease has ended, or the store's error. Call a Fence directly before a write outside the
// store. It detects that the process was frozen for longer than its lease.
type Fence func(ctx context.Context) error

// Config names the job, and the store that has its lease.
type Config struct {
	DB      *sqlstore.DB
	Name    string // name of the job, such as "rollup"
	Local   bool   // the job works on data of this instance only, and needs no lease
	Log     *slog.Logger
	Metrics prometheus.Registerer // nil for none
}

// Run calls the job (the function `do`) whenever this instance begins to lead, until ctx ends. The job's context ends
// when the instance may have lost its lease. If the job returns an error other than the end of its context, Run returns
// that error. Run returns nil if the job returns nil before its context has ended.
//
// On SQLite only one process serves, so Run calls the job at once, without a lease. The same holds for Local jobs.
//
// On PostgreSQL the leader has a lease of nine seconds in the table "leader", and renews it every three. If no renewal
// succeeds for six seconds, the job's context ends. The job then has three seconds to return before another instance
// can lead. After ctx has ended and the job has returned, Run releases the lease. A standby then leads within a second.
//
// Clock skew between instances has no effect. The clock of the database decides when a lease ends. The leader measures
// the lease with its monotonic clock, from the time before it requested the lease. Two instances can lead at once when
// the database's clock jumps ahead by more than three seconds. The same can happen when a process is frozen between a
// check of its context and its next step. Singleton jobs must therefore be idempotent. A [Fence] detects that the
// process was frozen, unless it was frozen after the Fence's query.
func Run(ctx context.Context, c Config, do func(ctx context.Context, fence Fence) error) error {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	leads := promauto.With(c.Metrics).NewGauge(prometheus.GaugeOpts{
		Name: "vayu_leader", Help: "1 if this instance holds the named leader lease.",
		ConstLabels: prometheus.Labels{"name": c.Name},
	})
	if c.Metrics != nil {
		defer c.Metrics.Unregister(leads)
	}
	led := func(ctx context.Context, fence Fence) error {
		leads.Set(1)
		defer leads.Set(0)
		return do(ctx, fence)
	}
	if c.Local || c.DB.Name() == "sqlite" {
		return outcome(ctx, led(ctx, func(context.Context) error { return nil }))
	}
	return newCandidate(leaseRow{c.DB, c.Name, rand.Text(), leaseTime}, c.Log.With("name", c.Name)).run(ctx, led)
}

// outcome returns err, the error of a job. It returns nil if err only means that the job's context has ended.
func outcome(ctx context.Context, err error) error {
	if ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
		return nil
	}
	return err
}

// lock gives access to the lease of one job.
type lock interface {
	// available reports whether acquire may succeed, because no other instance has a valid lease.
	available(ctx context.Context) (bool, error)
	// acquire begins or renews the lease. It returns false if another instance has the lease.
	acquire(ctx context.Context) (bool, error)
	// held reports whether this instance has the lease.
	held(ctx context.Context) (bool, error)
	// release ends the lease if this instance has it.
	release(ctx context.Context) error
}

// candidate acquires and renews the lease of a job for this instance.
type candidate struct {
	lock  lock
	log   *slog.Logger
	store *failurelog.Log
	lease time.Duration
}

func newCandidate(s lock, log *slog.Logger) *candidate {
	return &candidate{lock: s, log: log, lease: leaseTime, store: failurelog.New(log, "leader: the state store", "renewing leader leases", "a leader stops when its lease expires", nil)}
}

func (c *candidate) run(ctx context.Context, do func(ctx context.Context, fence Fence) error) error {
	for {
		requested, ok := c.awaitLease(ctx)
		if !ok {
			return nil
		}
		if over, err := c.lead(ctx, requested, do); over {
			return err
		}
	}
}

// awaitLease waits until this instance has acquired the lease. It returns the time directly before
// it requested the lease. It returns false if ctx has ended.
func (c *candidate) awaitLease(ctx context.Context) (requested time.Time, ok bool) {
	for ctx.Err() == nil {
		available, err := c.lock.available(ctx)
		if available && err == nil {
			requested = time.Now()
			var acquired bool
			if acquired, err = c.lock.acquire(ctx); acquired && err == nil {
				c.store.Observe(ctx, nil)
				return requested, true
			}
		}
		c.store.Observe(ctx, err)
		sleep.For(ctx, pollInterval)
	}
	return time.Time{}, false
}

// lead runs the job `do` while this instance has the lease, and renews the lease. The result `over` is false if the
// lease is lost and `do` has returned no error of its own. Otherwise `over` is true, and err is the error of `do`.
func (c *candidate) lead(ctx context.Context, requested time.Time, do func(ctx context.Context, fence Fence) error) (over bool, err error) {
	leading, end := context.WithCancel(ctx)
	c.log.Info("this instance leads")
	renewed := make(chan struct{})
	go func() {
		defer close(renewed)
		c.renew(leading, requested, end)
	}()
	defer func() { // also when `do` panics
		end()
		<-renewed
	}()
	err = outcome(leading, do(leading, c.fence))
	lost := leading.Err() != nil && ctx.Err() == nil
	if lost && err == nil {
		c.log.Warn("this instance lost the leader lease, because it could not renew it")
		return false, nil
	}
	end()
	<-renewed // a late renewal must not follow the release
	limit, done := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer done()
	if failed := c.lock.release(limit); failed != nil {
		c.log.Warn("could not release the leader lease; it will expire", "error", failed)
	}
	return true, err
}

// fence returns ErrNotLeader if this instance has lost the lease. It is the [Fence] that the job gets.
func (c *candidate) fence(ctx context.Context) error {
	mine, err := c.lock.held(ctx)
	if err == nil && !mine {
		err = ErrNotLeader
	}
	return err
}

// renew renews the lease until the context `leading` is done. It calls `end`, which ends `leading`, if another instance
// has the lease. A timer calls `end` two thirds of the lease time after the start of the last successful renewal.
func (c *candidate) renew(leading context.Context, requested time.Time, end func()) {
	due := c.lease * 2 / 3
	last := time.AfterFunc(time.Until(requested.Add(due)), end)
	defer last.Stop()
	for next := c.lease / 3; ; {
		if !sleep.For(leading, next) {
			return
		}
		requested := time.Now()
		mine, err := c.lock.acquire(leading)
		c.store.Observe(leading, err)
		switch {
		case err != nil:
			next = pollInterval
		case !mine: // the lease had expired, and another instance has acquired it
			end()
			return
		default:
			last.Reset(time.Until(requested.Add(due)))
			next = c.lease / 3
		}
	}
}
