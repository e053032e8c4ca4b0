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
	// queryTimeout bounds what one client's question asks of the engine: a city's
	// first load has its p99 well under a second, so that three seconds mean that
	// the engine is not there, whatever its socket says.
	queryTimeout = 3 * time.Second
	// cachedTimeout is how long a question that memory can answer waits for newer
	// days. Reading a tail takes milliseconds, on a busy machine hundreds of them: an
	// older figure is worse than a slower one while the engine is healthy.
	cachedTimeout = time.Second
	// downTimeout is the same after the engine has failed.
	downTimeout = 100 * time.Millisecond
	// fillTimeout is how long an answer that is complete but for borrowed figures
	// waits for those: less than for the answer itself, which is there.
	fillTimeout = time.Second
	// breakerTimeout is how long after a failure questions are refused at once, before
	// one of them tries the engine again; Retry-After tells clients the same order.
	breakerTimeout = 2 * time.Second
)

// breaker keeps clients from waiting for an engine that has just failed, each for
// itself: one failure is enough, and one success ends it.
type breaker = gobreaker.CircuitBreaker[struct{}]

func newBreaker(name string) *breaker {
	return gobreaker.NewCircuitBreaker[struct{}](gobreaker.Settings{
		Name: name, MaxRequests: 1, Timeout: breakerTimeout,
		ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures > 0 },
		IsSuccessful: func(err error) bool {
			var exception *clickhouse.Exception // an engine that answers is there
			return err == nil || errors.As(err, &exception)
		},
		// A client that hangs up says nothing about the engine.
		IsExcluded: func(err error) bool {
			var slow *busyError
			return errors.Is(err, context.Canceled) || errors.As(err, &slow)
		},
	})
}

// busyError is that of a question that took too long while the engine answered
// others, such as the look for roll-ups each second: the engine is busy, and not away.
type busyError struct{ error }

func (e *busyError) Unwrap() error { return e.error }

// lastAnswer is when the engine has last answered a question, Unix nanoseconds.
type lastAnswer struct{ at atomic.Int64 }

// observe runs a question and tells a slow one from an engine that is away.
func (a *lastAnswer) observe(do func() error) error {
	began := time.Now()
	err := do()
	switch {
	case err == nil:
		a.at.Store(time.Now().UnixNano())
	case errors.Is(err, context.DeadlineExceeded) && a.at.Load() > began.UnixNano():
		return &busyError{err}
	}
	return err
}

// each runs a query as each does, through the guard if there is one.
func (t tables) each(ctx context.Context, dest []any, row func(), query string, args ...any) error {
	run := func() error {
		return t.lastAnswer.observe(func() error { return each(ctx, t.conn, dest, row, query, args...) })
	}
	if t.breaker == nil {
		return run()
	}
	_, err := t.breaker.Execute(func() (struct{}, error) { return struct{}{}, run() })
	return err
}

// maxStationsPerQuery is how many stations one query names: a parameter is part of the
// request's address, and servers bound its length (http_max_uri_size, 1 MiB).
const maxStationsPerQuery = 2000

// eachNamed is each for a query about the stations that the parameter named so
// valid. There are several queries when there are many stations.
func (t tables) eachNamed(ctx context.Context, stations []string, dest []any, row func(), query string, args ...any) error {
	for part := range slices.Chunk(stations, maxStationsPerQuery) {
		if err := t.each(ctx, dest, row, query, append(slices.Clone(args), param("stations", part))...); err != nil {
			return err
		}
	}
	return nil
}

// healthy reports whether the last question to the engine was answered.
func (t tables) healthy() bool {
	return t.breaker == nil || t.breaker.State() == gobreaker.StateClosed
}
