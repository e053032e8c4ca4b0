package query_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"vayu/query"
	"vayu/query/aggregate"
	"vayu/schema"
)

// metricValues reads counters and gauges of world live by name.
func metricValues(t *testing.T, reg *prometheus.Registry, names ...string) map[string]float64 {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, name := range names {
		for _, f := range families {
			for _, m := range f.GetMetric() {
				if f.GetName() == name && m.GetLabel()[0].GetValue() == "live" {
					out[name] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
				}
			}
		}
	}
	return out
}

func TestConcurrentFirstQueriesShareOneLoad(t *testing.T) {
	t.Parallel()
	w := india(t)
	reg := prometheus.NewRegistry()
	w.serve(t, func(c *query.Config) { c.Metrics = reg })
	w.refresh(t)
	var wait sync.WaitGroup
	for range 20 {
		wait.Go(func() {
			if status, _, body := w.get(t, "/v1/aqi?city=Delhi&date=2026-11-18"); status != http.StatusOK {
				t.Errorf("%d %s", status, body)
			}
		})
	}
	wait.Wait()
	if diff := cmp.Diff(map[string]float64{"vayu_history_loads_total": 1}, metricValues(t, reg, "vayu_history_loads_total")); diff != "" {
		t.Error(diff)
	}
}

func TestFailuresAreCounted(t *testing.T) {
	t.Parallel()
	w := india(t)
	reg := prometheus.NewRegistry()
	conn := &flakyConn{Conn: w.conn}
	later := now
	w.serve(t, func(c *query.Config) {
		c.Conn, c.Metrics, c.Now = conn, reg, func() time.Time { return later }
	})
	w.refresh(t)
	conn.down.Store(true)
	if err := w.service.Refresh(t.Context(), 0); err == nil {
		t.Error("no error")
	}
	w.get(t, "/v1/aqi?city=Delhi&date=2026-11-18")
	later = now.Add(time.Hour)
	want := map[string]float64{
		"vayu_snapshot_builds_total": 1, "vayu_snapshot_errors_total": 1, "vayu_history_errors_total": 1,
		"vayu_snapshot_age_seconds": 3600, "vayu_air_age_seconds": later.Sub(hour).Seconds(), "vayu_snapshot_cities": 8,
	}
	names := make([]string, 0, len(want))
	for name := range want {
		names = append(names, name)
	}
	if diff := cmp.Diff(want, metricValues(t, reg, names...)); diff != "" {
		t.Error(diff)
	}
}

func TestDetailedViewGrowsStale(t *testing.T) {
	t.Parallel()
	w := india(t)
	var mu sync.Mutex
	clock := now
	run(t, w, func(c *query.Config) {
		c.Now = func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			return clock
		}
	})
	for _, c := range []struct {
		after time.Duration
		want  string
	}{{0, `"stale":false`}, {3*time.Hour - time.Second, `"stale":false`}, {3*time.Hour + time.Second, `"stale":true`}} {
		t.Run(c.after.String(), func(t *testing.T) {
			mu.Lock()
			clock = hour.Add(c.after)
			mu.Unlock()
			// A client with a conditional request by date must see it, too.
			for _, path := range []string{"/v1/aqi?city=Delhi&view=detail", "/v1/aqi?pincode=110001&view=detail", "/v1/aqi?lat=28.6&lon=77.2&view=detail"} {
				_, h, body := w.get(t, path, "If-Modified-Since", now.Format(http.TimeFormat))
				if !strings.Contains(body, c.want) || h.Get("Last-Modified") != "" {
					t.Errorf("%s: got %s with the header %v, want %s and no Last-Modified", path, body, h, c.want)
				}
			}
		})
	}
}

// Without it, the cities of a new service would have no AQI until the first roll-up ends.
func TestFirstSnapshotWaitsForTheFirstRollUp(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.serve(t)
	get := func(name string, want int) {
		t.Helper()
		w.refresh(t)
		if status, _, body := w.get(t, "/v1/aqi?city=Delhi"); status != want {
			t.Errorf("%s: %d %s, want %d", name, status, body, want)
		}
	}
	w.station(t, w.live, "cpcb-a", "Delhi", "Delhi", 28.6, 77.2)
	get("a station", http.StatusServiceUnavailable)
	w.exec(t, "INSERT INTO "+w.live+".reading (station, parameter, at, averaging, value) VALUES ('cpcb-a', 'pm25', '2026-11-20 05:00:00', 60, 60)")
	get("a reading", http.StatusServiceUnavailable)
	w.cityHour(t, w.live, "Delhi", "Delhi", figure{at: hour, aqi: 100, amount: [6]float64{60, gap, gap, gap, gap, gap}})
	get("an hour of a roll-up that has not ended", http.StatusServiceUnavailable)
	w.rollup(t, w.live, hour)
	get("a roll-up", http.StatusOK)
}

func TestPollSeesImportOfAnotherProcess(t *testing.T) {
	t.Parallel()
	w := india(t)
	conn := &observedConn{Conn: w.conn, of: w.live + ".station GROUP", seen: make(chan struct{}, 100)}
	run(t, w, func(c *query.Config) { c.Conn, c.Poll = conn, 10*time.Millisecond })
	w.station(t, w.live, "cpcb-velachery", "Chennai", "Tamil Nadu", 13.0, 80.24)
	w.cityHour(t, w.live, "Chennai", "Tamil Nadu", figure{at: hour, aqi: 55, amount: [6]float64{1, 2, 3, 4, 5, 6}})
	for len(conn.seen) > 0 {
		<-conn.seen
	}
	for range 2 { // the first refresh is published before the second reads
		w.rollup(t, w.live, hour)
		<-conn.seen
	}
	if status, _, body := w.get(t, "/v1/aqi?city=Madras"); status != http.StatusOK || record(t, body).AQI != 55 {
		t.Errorf("%d %s", status, body)
	}
}

func TestRefreshReadsNoDays(t *testing.T) {
	t.Parallel()
	w := india(t)
	conn := &observedConn{Conn: w.conn, of: w.live + ".city_day", seen: make(chan struct{}, 100)}
	w.serve(t, func(c *query.Config) { c.Conn = conn })
	w.refresh(t)
	w.rollup(t, w.live, hour)
	w.refresh(t)
	if n := len(conn.seen); n != 0 {
		t.Errorf("two refreshes read days %d times, and every day is an hour", n)
	}
	if _, _, body := w.get(t, "/v1/aqi?city=Kochi"); record(t, body).AQI != 60 {
		t.Errorf("a city without a recent hour: %s", body)
	}
}

// observedConn signals when a table is read.
type observedConn struct {
	aggregate.Conn
	of   string
	seen chan struct{}
}

func (n *observedConn) Query(ctx context.Context, sql string, args ...any) (driver.Rows, error) {
	if strings.Contains(sql, n.of) {
		n.seen <- struct{}{}
	}
	return n.Conn.Query(ctx, sql, args...)
}

// Services with the same roll-ups publish the same publication, so that alerts can compare the air of instances.
func TestPublicationIsThatOfTheTables(t *testing.T) {
	t.Parallel()
	w := india(t)
	w.serve(t)
	w.refresh(t)
	first := w.service.Air().Published(schema.Live).Publication()
	if first.RolledUp == 0 || first.Rollups == 0 || first.Promoted == 0 {
		t.Errorf("got %+v, want the roll-ups and the newest hour", first)
	}
	w.serve(t)
	w.refresh(t)
	if again := w.service.Air().Published(schema.Live).Publication(); again != first {
		t.Errorf("got %+v after a restart, want %+v", again, first)
	}
}

// A roll-up of private stations keeps the snapshot, and all that was computed from it. The publication still changes.
func TestPrivateStationsKeepTheSnapshot(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.station(t, w.live, "cpcb-a", "Delhi", "Delhi", 28.6, 77.2, figure{at: hour, aqi: 100, amount: [6]float64{60, gap, gap, gap, gap, gap}})
	w.cityHour(t, w.live, "Delhi", "Delhi", figure{at: hour, aqi: 100, amount: [6]float64{60, gap, gap, gap, gap, gap}})
	w.rollup(t, w.live, hour.Add(-time.Hour))
	reg := prometheus.NewRegistry()
	w.serve(t, func(c *query.Config) { c.Metrics = reg })
	w.refresh(t)
	publication := w.service.Air().Published(schema.Live).Publication()
	const builds = "vayu_snapshot_builds_total"
	for _, step := range []struct {
		name string
		do   func()
		want float64
	}{
		{"the first roll-up after the start", func() {}, 2}, // the start has no digests
		{"a private station", func() {
			w.ownStation(t, w.live, "acc_live", "roof", figure{at: hour, aqi: 300, amount: [6]float64{150, gap, gap, gap, gap, gap}})
		}, 2},
		{"the hour of a city", func() {
			w.cityHour(t, w.live, "Delhi", "Delhi", figure{at: hour, aqi: 110, amount: [6]float64{62, gap, gap, gap, gap, gap}})
		}, 3},
		{"a public station", func() {
			w.station(t, w.live, "cpcb-b", "Delhi", "Delhi", 28.7, 77.2, figure{at: hour, aqi: 120, amount: [6]float64{66, gap, gap, gap, gap, gap}})
		}, 4},
		{"no row", func() {}, 4},
	} {
		step.do()
		w.rollup(t, w.live, hour.Add(-time.Hour))
		w.refresh(t)
		if diff := cmp.Diff(map[string]float64{builds: step.want}, metricValues(t, reg, builds)); diff != "" {
			t.Errorf("after a roll-up of %s (-want +got):\n%s", step.name, diff)
		}
		now := w.service.Air().Published(schema.Live).Publication()
		if now.Compare(publication) <= 0 {
			t.Errorf("the publication %+v after a roll-up of %s is not newer than %+v", now, step.name, publication)
		}
		publication = now
	}
	if status, _, body := w.get(t, "/v1/aqi?city=Delhi"); status != http.StatusOK || !strings.Contains(body, `"aqi":110`) {
		t.Errorf("got %d %s, want the corrected hour", status, body)
	}
}
