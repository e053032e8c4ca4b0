package query

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	clickhouse "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/sony/gobreaker/v2"
)

const (
	// queryPatience bounds what one client's question asks of the engine: a city's
	// first load has its p99 well under a second, so that three seconds mean that
	// the engine is not there, whatever its socket says.
	queryPatience = 3 * time.Second
	// cachedPatience is how long a question that memory can answer waits for newer
	// days. Reading a tail takes milliseconds, on a busy machine hundreds of them: an
	// older figure is worse than a slower one while the engine is healthy.
	cachedPatience = time.Second
	// awayPatience is the same after the engine has failed.
	awayPatience = 100 * time.Millisecond
	// fillPatience is how long an answer that is complete but for borrowed figures
	// waits for those: less than for the answer itself, which is there.
	fillPatience = time.Second
	// guardPause is how long after a failure questions are refused at once, before
	// one of them tries the engine again; Retry-After tells clients the same order.
	guardPause = 2 * time.Second
)

// guard keeps clients from waiting for an engine that has just failed, each for
// itself: one failure is enough, and one success ends it.
type guard = gobreaker.CircuitBreaker[struct{}]

func newGuard(name string) *guard {
	return gobreaker.NewCircuitBreaker[struct{}](gobreaker.Settings{
		Name: name, MaxRequests: 1, Timeout: guardPause,
		ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures > 0 },
		IsSuccessful: func(err error) bool {
			var stated *clickhouse.Exception // an engine that answers is there
			return err == nil || errors.As(err, &stated)
		},
		// A client that hangs up says nothing about the engine.
		IsExcluded: func(err error) bool {
			var slow *slowError
			return errors.Is(err, context.Canceled) || errors.As(err, &slow)
		},
	})
}

// slowError is that of a question that took too long while the engine answered
// others, such as the look for roll-ups each second: the engine is busy, and not away.
type slowError struct{ error }

func (e *slowError) Unwrap() error { return e.error }

// answered is when the engine has last answered a question, Unix nanoseconds.
type answered struct{ at atomic.Int64 }

// since runs a question and tells a slow one from an engine that is away.
func (a *answered) since(do func() error) error {
	began := time.Now()
	err := do()
	switch {
	case err == nil:
		a.at.Store(time.Now().UnixNano())
	case errors.Is(err, context.DeadlineExceeded) && a.at.Load() > began.UnixNano():
		return &slowError{err}
	}
	return err
}

// each runs a query as each does, through the guard if there is one.
func (t tables) each(ctx context.Context, dest []any, row func(), query string, args ...any) error {
	ask := func() error {
		return t.answered.since(func() error { return each(ctx, t.conn, dest, row, query, args...) })
	}
	if t.guard == nil {
		return ask()
	}
	_, err := t.guard.Execute(func() (struct{}, error) { return struct{}{}, ask() })
	return err
}

// namesMost is how many stations one query names: a parameter is part of the
// request's address, and servers bound its length (http_max_uri_size, 1 MiB).
const namesMost = 2000

// eachNamed is each for a query about the stations that the parameter named so
// holds. There are several queries when there are many stations.
func (t tables) eachNamed(ctx context.Context, stations []string, dest []any, row func(), query string, args ...any) error {
	for part := range slices.Chunk(stations, namesMost) {
		if err := t.each(ctx, dest, row, query, append(slices.Clone(args), param("stations", part))...); err != nil {
			return err
		}
	}
	return nil
}

// healthy reports whether the last question to the engine was answered.
func (t tables) healthy() bool {
	return t.guard == nil || t.guard.State() == gobreaker.StateClosed
}
