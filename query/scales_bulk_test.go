package query_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"vayu/query"
	"vayu/query/aggregate"
)

// meansConn counts the queries for hourly means, and can refuse them.
type meansConn struct {
	aggregate.Conn

	queries atomic.Int32
	down    bool
}

func (m *meansConn) Query(ctx context.Context, sql string, args ...any) (driver.Rows, error) {
	if strings.Contains(sql, ".station_parameter_hour") {
		m.queries.Add(1)
		if m.down {
			return nil, errors.New("the connection is down")
		}
	}
	return m.Conn.Query(ctx, sql, args...)
}

// One query reads the hourly means of all cities, also if a city has several spellings. Each record is that of its city.
func TestManyCitiesOnAScaleTakeOneQuery(t *testing.T) {
	t.Parallel()
	w := withMeans(t)
	w.hourlyMeans(t, "cpcb-port-blair", "no2", 10, 10, 10)
	w.hourlyMeans(t, "cpcb-port-blair", "pm25", 160, 160, 160, 160)
	names := []string{"Delhi", "Pune", "delhi", "Atlantis", "दिल्ली", "Sri Vijaya Puram", "Aurangabad, Bihar", "Delhi"}
	for _, period := range []string{"", "&date=2026-11-19", "&kinds=reference", "&view=detail"} {
		for _, scale := range []string{"us", "eu"} {
			t.Run(scale+period, func(t *testing.T) {
				rest := "&scale=" + scale + period
				conn := &meansConn{Conn: w.conn}
				w.serve(t, func(c *query.Config) { c.Conn = conn })
				w.refresh(t)
				var bulk struct{ Results []json.RawMessage }
				_, body := w.getInto(t, "/v1/aqi?cities="+url.QueryEscape(strings.Join(names, ","))+rest, &bulk)
				if len(bulk.Results) != len(names) {
					t.Fatalf("%d results, want %d: %s", len(bulk.Results), len(names), body)
				}
				if got := conn.queries.Load(); got != 1 {
					t.Errorf("%d queries for hourly means, want 1", got)
				}
				w.serve(t) // without the answers in memory
				w.refresh(t)
				for i, name := range names {
					status, _, one := w.get(t, "/v1/aqi?city="+url.QueryEscape(name)+rest)
					if status == http.StatusOK && one != string(bulk.Results[i]) {
						t.Errorf("%s:\ngot  %s\nwant %s", name, bulk.Results[i], one)
					}
					if failed := strings.HasPrefix(string(bulk.Results[i]), `{"status":"error"`); failed != (status != http.StatusOK) {
						t.Errorf("%s: status %d alone, and among others %s", name, status, bulk.Results[i])
					}
				}
			})
		}
	}
	conn := &meansConn{Conn: w.conn}
	w.serve(t, func(c *query.Config) { c.Conn = conn })
	w.refresh(t)
	if status, _, body := w.get(t, "/v1/aqi?bbox=68,6,98,38&scale=us"); status != http.StatusOK || conn.queries.Load() != 1 {
		t.Errorf("a box: status %d, %d queries for hourly means, want 1: %s", status, conn.queries.Load(), body)
	}
}

// While hourly means cannot be read, each record has the indices that need none. The service asks once for all.
func TestManyCitiesOnAScaleWithoutMeans(t *testing.T) {
	t.Parallel()
	w := withMeans(t)
	conn := &meansConn{Conn: w.conn, down: true}
	w.serve(t, func(c *query.Config) { c.Conn = conn })
	w.refresh(t)
	var bulk struct{ Results []scaled }
	if _, body := w.getInto(t, "/v1/aqi?cities=Delhi,Pune&scale=us", &bulk); len(bulk.Results) != 2 {
		t.Fatalf("%d results, want 2: %s", len(bulk.Results), body)
	}
	for i, want := range []string{"us 182, Unhealthy, #FF0000, PM2.5", "us 154, Unhealthy, #FF0000, PM2.5"} { // of the means of 24 hours
		if got := bulk.Results[i].text(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if got := conn.queries.Load(); got != 1 {
		t.Errorf("%d queries for hourly means, want 1", got)
	}
}
