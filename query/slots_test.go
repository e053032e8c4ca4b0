package query_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"vayu/query"
	"vayu/query/aggregate"
)

// gatedConn blocks queries for hours of a city of a database until the gate opens.
type gatedConn struct {
	aggregate.Conn
	database string
	city     string // "" for all
	waiting  chan struct{}
	open     chan struct{}
	late     chan struct{} // closed when the time limit of the queries ends; nil for no limit
}

func (g *gatedConn) Query(ctx context.Context, sql string, args ...any) (driver.Rows, error) {
	if strings.Contains(sql, g.database+".city_hour") && strings.Contains(sql, "{city:String}") && strings.Contains(fmt.Sprint(args...), g.city) {
		g.waiting <- struct{}{}
		select {
		case <-g.open:
		case <-g.late:
			return nil, context.DeadlineExceeded
		}
	}
	return g.Conn.Query(ctx, sql, args...)
}

// History queries of one account are limited in flight, so that others get answers;
// more are rejected.
func TestHistoryQueriesInFlightAreLimitedPerAccount(t *testing.T) {
	t.Parallel()
	w := india(t)
	gate := &gatedConn{Conn: w.conn, database: w.live, waiting: make(chan struct{}, 10), open: make(chan struct{})}
	w.serve(t, func(c *query.Config) { c.Conn = gate })
	w.refresh(t)
	const path = "/v1/aqi?city=Delhi&from=2026-11-18&to=2026-11-20&interval=hour"
	var clients sync.WaitGroup
	for range 4 {
		clients.Go(func() { // blocks until the gate opens
			if status, _, body := w.get(t, path); status != http.StatusOK {
				t.Errorf("%d %s", status, body)
			}
		})
	}
	for range 4 {
		<-gate.waiting
	}
	status, h, body := w.get(t, path)
	if status != http.StatusTooManyRequests || !strings.Contains(body, "4 history queries") {
		t.Errorf("one more: status %d, want 429 with the limit of 4 history queries: %s", status, body)
	}
	if got := h.Get("Retry-After"); got != "1" {
		t.Errorf("one more: Retry-After is %q, want 1", got)
	}
	if status, _, body := w.get(t, "/v1/aqi?city=Delhi"); status != http.StatusOK {
		t.Errorf("the air of now: %d %s", status, body)
	}
	if status, _, body := w.do(t, http.MethodGet, path, "Authorization", "Bearer "+sandboxKey); status != http.StatusOK && status != http.StatusNotFound {
		t.Errorf("another account: %d %s", status, body)
	}
	close(gate.open)
	clients.Wait()
}

// A query that times out while ClickHouse answers others does not open the breaker.
func TestSlowQueryDoesNotOpenTheBreaker(t *testing.T) {
	t.Parallel()
	w := india(t)
	gate := &gatedConn{Conn: w.conn, database: w.live, city: "Delhi", waiting: make(chan struct{}, 1), late: make(chan struct{})}
	w.serve(t, func(c *query.Config) { c.Conn = gate })
	w.refresh(t)
	const span = "&from=2026-11-18&to=2026-11-20&interval=hour"
	slow := make(chan int)
	go func() {
		status, _, _ := w.get(t, "/v1/aqi?city=Delhi"+span)
		slow <- status
	}()
	<-gate.waiting
	for _, city := range []string{"Pune", "Kanpur"} {
		if city == "Kanpur" {
			close(gate.late)
			if status := <-slow; status != http.StatusServiceUnavailable {
				t.Fatalf("the slow question: %d", status)
			}
		}
		if status, _, body := w.get(t, "/v1/aqi?city="+city+span); status != http.StatusOK {
			t.Errorf("%s: %d %s", city, status, body)
		}
	}
}
