package aggregate

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	clickhouse "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/sony/gobreaker/v2"
)

// breaker is a circuit breaker. It opens after one failed query of ClickHouse, and then rejects queries at once. After
// a pause it permits one query, and closes if the query succeeds.
type breaker = gobreaker.CircuitBreaker[struct{}]

// NewBreaker returns a circuit breaker that is closed, so queries pass.
func NewBreaker(name string) *breaker {
	return gobreaker.NewCircuitBreaker[struct{}](gobreaker.Settings{
		Name: name, MaxRequests: 1, Timeout: breakerTimeout,
		ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures > 0 },
		IsSuccessful: func(err error) bool {
			var exception *clickhouse.Exception // ClickHouse is up if it replies, even with an error
			return err == nil || errors.As(err, &exception)
		},
		// Neither a query whose client has disconnected nor a slow query counts as a failure of ClickHouse.
		IsExcluded: func(err error) bool {
			var slow *busyError
			return errors.Is(err, context.Canceled) || errors.As(err, &slow)
		},
	})
}

// busyError means that a query timed out while ClickHouse answered another query,
// such as the poll for roll-ups. ClickHouse is busy, not down.
type busyError struct{ error }

func (e *busyError) Unwrap() error { return e.error }

// lastAnswer has the time, in Unix nanoseconds, at which ClickHouse last answered a query.
type lastAnswer struct{ at atomic.Int64 }

// observe runs a query by calling `do`. If the query times out although ClickHouse answered another
// query meanwhile, the error is a busyError.
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
