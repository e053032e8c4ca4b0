// Package leader lets one instance of several do what only one may do at a time.
package leader

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/failurelog"
	"vayu/internal/sleep"
	"vayu/internal/sqlstore"
)

const (
	// leaseTime is how long the one is the one without saying so again. With a
	// look each second, another takes over at most ten seconds after a crash; and
	// a store may be away for six seconds before anybody stops.
	leaseTime = 9 * time.Second
	// lookEvery is the time between two looks of those who wait, and between two
	// tries to renew after one that failed.
	lookEvery = time.Second
	// leaveMost is how long leaving may wait for its turn at the store.
	leaveMost = 2 * time.Second
)

// ErrLost is the error of a [Fence] when another instance leads, or may.
var ErrLost = errors.New("another instance leads now")

// Fence asks the store whether this instance still leads, in the moment before it
// does what only the one may do, and returns ErrLost when it does not. It is for what
// is written elsewhere than in the store: an instance that was frozen for longer than
// its lease finds out here, and not after it has written.
type Fence func(ctx context.Context) error

// Config says what is led, and where instances agree on it.
type Config struct {
	DB      *sqlstore.DB
	Name    string // of what is done, such as "outbox"
	Alone   bool   // what is done is done to what no other instance has: this one leads at once
	Log     *slog.Logger
	Metrics prometheus.Registerer // nil for none
}

// Run calls do whenever this instance is the one, until ctx ends. The context of
// do ends when the instance can no longer be sure that it is. An error of do ends
// Run, unless it is the end of its context; so does nil before that.
//
// On SQLite one process serves, so it leads at once and writes nothing; so does one
// that is alone with what it does.
//
// On PostgreSQL the one has a lease of nine seconds in table leader. It renews
// it after three; when no renewal has succeeded for six, the context of do ends,
// and do has three seconds to return before another can begin. When ctx ends the
// lease is given up, and another leads within a second.
//
// Clocks of instances may differ by any amount: a lease begins and ends by the
// clock of the server, and its holder counts from before he asked for it, by a
// clock that nobody sets. What can make two lead is a server whose clock jumps
// ahead by more than three seconds, or an instance that is frozen between a look
// at its context and what it does next; so what is led must bear being done
// twice. A [Fence] leaves of the second the time of one look at the store.
func Run(ctx context.Context, c Config, do func(ctx context.Context, fence Fence) error) error {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	leads := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "vayu_leader", Help: "1 while this instance is the one of all that does what name says, else 0.",
		ConstLabels: prometheus.Labels{"name": c.Name},
	})
	if c.Metrics != nil {
		if err := c.Metrics.Register(leads); err != nil {
			return fmt.Errorf("registering the lead of %q: %w", c.Name, err)
		}
		defer c.Metrics.Unregister(leads)
	}
	led := func(ctx context.Context, fence Fence) error {
		leads.Set(1)
		defer leads.Set(0)
		return do(ctx, fence)
	}
	if c.Alone || c.DB.Name() == "sqlite" {
		return outcome(ctx, led(ctx, func(context.Context) error { return nil }))
	}
	return newCandidate(newRow(c), c.Log.With("name", c.Name)).run(ctx, led)
}

// outcome is the error of do, unless it is the end of its context.
func outcome(ctx context.Context, err error) error {
	if ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
		return nil
	}
	return err
}

// seat is where one can sit.
type seat interface {
	// free says whether taking it is worth a try.
	free(ctx context.Context) (bool, error)
	// take takes the seat for a lease that begins now, also from himself; false
	// when somebody else has it.
	take(ctx context.Context) (bool, error)
	// held says whether he still has it.
	held(ctx context.Context) (bool, error)
	// leave gives it up, if it is his.
	leave(ctx context.Context) error
}

// candidate is an instance that wants to be the one.
type candidate struct {
	seat  seat
	log   *slog.Logger
	store *failurelog.Outage
	lease time.Duration
}

func newCandidate(s seat, log *slog.Logger) *candidate {
	return &candidate{seat: s, log: log, lease: leaseTime, store: failurelog.New(log, "lead: the state store", "saying who leads", "who can no longer be sure of it stops", nil)}
}

func (c *candidate) run(ctx context.Context, do func(ctx context.Context, fence Fence) error) error {
	for {
		asked, ok := c.wait(ctx)
		if !ok {
			return nil
		}
		if over, err := c.term(ctx, asked, do); over {
			return err
		}
	}
}

// wait waits until the seat is taken, and says when it was asked for; false when
// ctx has ended.
func (c *candidate) wait(ctx context.Context) (asked time.Time, ok bool) {
	for ctx.Err() == nil {
		free, err := c.seat.free(ctx)
		if free && err == nil {
			asked = time.Now()
			var taken bool
			if taken, err = c.seat.take(ctx); taken && err == nil {
				c.store.Tell(ctx, nil)
				return asked, true
			}
		}
		c.store.Tell(ctx, err)
		sleep.For(ctx, lookEvery)
	}
	return time.Time{}, false
}

// term is the time of one lease and its renewals. It is over for good when do
// has returned before its context ended, and when ctx has ended.
func (c *candidate) term(ctx context.Context, asked time.Time, do func(ctx context.Context, fence Fence) error) (over bool, err error) {
	leading, end := context.WithCancel(ctx)
	c.log.Info("this instance leads")
	renewed := make(chan struct{})
	go func() {
		defer close(renewed)
		c.renew(leading, asked, end)
	}()
	defer func() { // also when do panics
		end()
		<-renewed
	}()
	err = outcome(leading, do(leading, c.fence))
	lost := leading.Err() != nil && ctx.Err() == nil
	if lost && err == nil {
		c.log.Warn("this instance leads no more, because its lease could not be renewed")
		return false, nil
	}
	end()
	<-renewed // else it would take what is left here
	limit, done := context.WithTimeout(context.WithoutCancel(ctx), leaveMost)
	defer done()
	if failed := c.seat.leave(limit); failed != nil {
		c.log.Warn("the lease is left to its end", "error", failed)
	}
	return true, err
}

// fence is the Fence of whoever leads here.
func (c *candidate) fence(ctx context.Context) error {
	mine, err := c.seat.held(ctx)
	if err == nil && !mine {
		err = ErrLost
	}
	return err
}

// renew renews the lease until leading ends, and ends it when that has not
// succeeded for two thirds of it, whether or not the store answers.
func (c *candidate) renew(leading context.Context, asked time.Time, end func()) {
	due := c.lease * 2 / 3
	last := time.AfterFunc(time.Until(asked.Add(due)), end)
	defer last.Stop()
	for next := c.lease / 3; ; {
		if !sleep.For(leading, next) {
			return
		}
		asked := time.Now()
		mine, err := c.seat.take(leading)
		c.store.Tell(leading, err)
		switch {
		case err != nil:
			next = lookEvery
		case !mine: // it was over before this instance knew
			end()
			return
		default:
			last.Reset(time.Until(asked.Add(due)))
			next = c.lease / 3
		}
	}
}
