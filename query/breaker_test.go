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
}

func (s *hangingConn) Query(ctx context.Context, sql string, args ...any) (driver.Rows, error) {
	s.queries.Add(1)
	if s.down.Load() {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return s.Conn.Query(ctx, sql, args...)
}

func TestQueriesFailFastWhenTheEngineHangs(t *testing.T) {
	t.Parallel()
	w := india(t)
	conn := &hangingConn{Conn: w.conn}
	w.serve(t, func(c *query.Config) { c.Conn = conn })
	w.service.ExtendTimeouts(10 * time.Millisecond)
	w.refresh(t)
	w.get(t, "/v1/aqi?city=Delhi&date=2026-11-18")
	w.rollup(t, w.live, hour.Add(-72*time.Hour))
	w.refresh(t) // the cached days are stale
	conn.down.Store(true)
	begun := time.Now()
	if _, _, body := w.get(t, "/v1/aqi?city=Delhi&date=2026-11-17"); record(t, body).AQI != 103 {
		t.Errorf("a city that is known: %s", body)
	}
	if took := time.Since(begun); took > 2*time.Second {
		t.Errorf("a city that is known is answered after %v", took)
	}
	status, h, body := w.get(t, "/v1/aqi?city=Pune&date=2026-11-18")
	checkProblem(t, status, h, body, schema.ServiceUnavailable, "")
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("the refusal took %v", took)
	}
	before := conn.queries.Load()
	for _, path := range []string{"/v1/aqi?city=Kochi&date=2026-11-18", "/v1/aqi?city=Delhi&from=2026-11-18&to=2026-11-19&interval=hour"} {
		status, h, body = w.get(t, path)
		checkProblem(t, status, h, body, schema.ServiceUnavailable, "")
	}
	if n := conn.queries.Load() - before; n != 0 {
		t.Errorf("the breaker let %d queries through after a failure", n)
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
