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
	// queryTimeout bounds ClickHouse's work for one client query. The p99 of a
	// city's first load is well under a second. After three seconds ClickHouse
	// counts as down, even if its socket is open.
	queryTimeout = 3 * time.Second
	// cachedTimeout is how long a query with cached days waits for newer ones.
	// Reading these takes milliseconds, or hundreds on a busy machine. If
	// ClickHouse is healthy, a slow answer is better than a stale one.
	cachedTimeout = time.Second
	// downTimeout replaces cachedTimeout after a failure of ClickHouse.
	downTimeout = 100 * time.Millisecond
	// fillTimeout is how long an answer waits for gap filling. It is shorter than
	// queryTimeout, because everything else of the answer is ready.
	fillTimeout = time.Second
	// breakerTimeout is how long the open breaker rejects queries before it lets
	// one test ClickHouse. Retry-After is of the same order.
	breakerTimeout = 2 * time.Second
)

// breaker is a circuit breaker that rejects queries at once after ClickHouse has
// failed. It opens after one failure and closes after one success.
type breaker = gobreaker.CircuitBreaker[struct{}]

func newBreaker(name string) *breaker {
	return gobreaker.NewCircuitBreaker[struct{}](gobreaker.Settings{
		Name: name, MaxRequests: 1, Timeout: breakerTimeout,
		ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures > 0 },
		IsSuccessful: func(err error) bool {
			var exception *clickhouse.Exception // ClickHouse is up if it replies, even with an error
			return err == nil || errors.As(err, &exception)
		},
		// A disconnected client and a slow query are no failures of ClickHouse.
		IsExcluded: func(err error) bool {
			var slow *busyError
			return errors.Is(err, context.Canceled) || errors.As(err, &slow)
		},
	})
}

// busyError is the timeout of a query during which ClickHouse answered another one,
// such as the poll for roll-ups. ClickHouse is busy, not down.
type busyError struct{ error }

func (e *busyError) Unwrap() error { return e.error }

// lastAnswer is the time of ClickHouse's last answer, Unix nanoseconds.
type lastAnswer struct{ at atomic.Int64 }

// observe runs a query. It turns a timeout into a busyError if ClickHouse answered
// another query meanwhile.
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

// each calls the function each, through the circuit breaker if there is one.
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

// maxStationsPerQuery bounds the stations of one query. The client sends them in
// the URL, whose length servers limit (http_max_uri_size, 1 MiB).
const maxStationsPerQuery = 2000

// eachNamed runs a query that has the SQL parameter `stations`. It splits a long
// list of stations into several queries.
func (t tables) eachNamed(
	ctx context.Context, stations []string, dest []any, row func(), query string, args ...any,
) error {
	for part := range slices.Chunk(stations, maxStationsPerQuery) {
		if err := t.each(ctx, dest, row, query, append(slices.Clone(args), param("stations", part))...); err != nil {
			return err
		}
	}
	return nil
}

// healthy reports whether ClickHouse answered the last query.
func (t tables) healthy() bool {
	return t.breaker == nil || t.breaker.State() == gobreaker.StateClosed
}
