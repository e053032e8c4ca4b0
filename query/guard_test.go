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
	"vayu/schema"
)

// stopped is a connection to an engine that accepts questions and, while it is
// stopped, never answers.
type stopped struct {
	query.Conn
	down    atomic.Bool
	queries atomic.Int64
}

func (s *stopped) Query(ctx context.Context, sql string, args ...any) (driver.Rows, error) {
	s.queries.Add(1)
	if s.down.Load() {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return s.Conn.Query(ctx, sql, args...)
}

func TestNobodyWaitsLongForAnEngineThatIsStopped(t *testing.T) {
	t.Parallel()
	w := india(t)
	conn := &stopped{Conn: w.conn}
	w.serve(t, func(c *query.Config) { c.Conn = conn })
	w.service.BePatient(10 * time.Millisecond)
	w.refresh(t)
	w.get(t, "/v1/aqi?city=Delhi&date=2026-11-18")
	w.rollup(t, w.live, hour.Add(-72*time.Hour))
	w.refresh(t) // the days in memory are not the newest
	conn.down.Store(true)
	begun := time.Now()
	if _, _, body := w.get(t, "/v1/aqi?city=Delhi&date=2026-11-17"); record(t, body).AQI != 103 {
		t.Errorf("a city that is known: %s", body)
	}
	if took := time.Since(begun); took > 2*time.Second {
		t.Errorf("a city that is known is answered after %v", took)
	}
	status, h, body := w.get(t, "/v1/aqi?city=Pune&date=2026-11-18")
	checkRefusal(t, status, h, body, schema.ServiceUnavailable, "")
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("the refusal took %v", took)
	}
	asked := conn.queries.Load()
	for _, path := range []string{"/v1/aqi?city=Kochi&date=2026-11-18", "/v1/aqi?city=Delhi&from=2026-11-18&to=2026-11-19&interval=hour"} {
		status, h, body = w.get(t, path)
		checkRefusal(t, status, h, body, schema.ServiceUnavailable, "")
	}
	if n := conn.queries.Load() - asked; n != 0 {
		t.Errorf("an engine that has just failed is asked %d times", n)
	}
}

func TestOneSuccessEndsTheRefusals(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := query.NewGuard("test")
		ask := func(answer error) error {
			_, err := g.Execute(func() (struct{}, error) { return struct{}{}, answer })
			return err
		}
		if ask(context.Canceled); ask(nil) != nil {
			t.Error("a client that hung up closed the way for others")
		}
		if ask(http.ErrServerClosed); ask(nil) == nil {
			t.Error("an engine that has just failed is asked again")
		}
		time.Sleep(2*time.Second + time.Millisecond)
		if err := ask(nil); err != nil {
			t.Errorf("the probe: %v", err)
		}
		if err := ask(nil); err != nil {
			t.Errorf("after a success: %v", err)
		}
	})
}
