package query_test

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"vayu/query"
	"vayu/query/aggregate"
	"vayu/schema"
)

// hangingConn is a connection to an engine that accepts queries and never answers
// them while it is stopped.
type hangingConn struct {
	aggregate.Conn
	down    atomic.Bool
	queries atomic.Int64
	failed  atomic.Int64  // Unix time of the first failure in ns, or 0
	silent  chan struct{} // until it is closed, queries outlast their contexts; nil for never
}

func (s *hangingConn) Query(ctx context.Context, sql string, args ...any) (driver.Rows, error) {
	s.queries.Add(1)
	if s.down.Load() {
		if s.silent != nil {
			<-s.silent
		}
		<-ctx.Done()
		s.failed.CompareAndSwap(0, time.Now().UnixNano())
		return nil, ctx.Err()
	}
	return s.Conn.Query(ctx, sql, args...)
}

func TestQueriesFailFastWhenTheEngineHangs(t *testing.T) {
	t.Parallel()
	w := india(t)
	conn := &hangingConn{Conn: w.conn, silent: make(chan struct{})}
	w.serve(t, func(c *query.Config) { c.Conn = conn })
	w.service.ExtendTimeouts(10 * time.Millisecond)
	w.refresh(t)
	w.get(t, "/v1/aqi?city=Delhi&date=2026-11-18")
	w.rollup(t, w.live, hour.Add(-72*time.Hour))
	w.refresh(t) // the cached days are stale
	conn.down.Store(true)
	if _, _, body := w.get(t, "/v1/aqi?city=Delhi&date=2026-11-17"); record(t, body).AQI != 103 {
		t.Errorf("a city that is known: %s", body)
	}
	close(conn.silent) // that answer did not wait for a query
	begun := time.Now()
	status, h, body := w.get(t, "/v1/aqi?city=Pune&date=2026-11-18")
	checkProblem(t, status, h, body, schema.ServiceUnavailable, "")
	if took := time.Since(begun); took > time.Minute {
		t.Errorf("the refusal took %v", took)
	}
	before := conn.queries.Load()
	for _, path := range []string{"/v1/aqi?city=Kochi&date=2026-11-18", "/v1/aqi?city=Delhi&from=2026-11-18&to=2026-11-19&interval=hour"} {
		status, h, body = w.get(t, path)
		checkProblem(t, status, h, body, schema.ServiceUnavailable, "")
	}
	passed := time.Since(time.Unix(0, conn.failed.Load()))
	if n := conn.queries.Load() - before; n > int64(passed/(2*time.Second)) { // it tests ClickHouse every two seconds
		t.Errorf("the breaker let %d queries through in the %v after a failure", n, passed)
	}
}

func TestOneSuccessClosesTheBreaker(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := aggregate.NewBreaker("test")
		execute := func(answer error) error {
			_, err := g.Execute(func() (struct{}, error) { return struct{}{}, answer })
			return err
		}
		if execute(context.Canceled); execute(nil) != nil {
			t.Error("a client that hung up closed the way for others")
		}
		if execute(http.ErrServerClosed); execute(nil) == nil {
			t.Error("the breaker let a query through after a failure")
		}
		time.Sleep(2*time.Second + time.Millisecond)
		if err := execute(nil); err != nil {
			t.Errorf("the probe: %v", err)
		}
		if err := execute(nil); err != nil {
			t.Errorf("after a success: %v", err)
		}
	})
}
