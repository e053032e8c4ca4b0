package query_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/go-cmp/cmp"

	"vayu/query"
	"vayu/query/aggregate"
	"vayu/schema"
	"vayu/schema/air"
)

// flakyConn is a connection that can fail, with a counter of queries.
type flakyConn struct {
	aggregate.Conn
	down    atomic.Bool
	queries atomic.Int64
}

func (f *flakyConn) Query(ctx context.Context, sql string, args ...any) (driver.Rows, error) {
	f.queries.Add(1)
	if f.down.Load() {
		return nil, errors.New("dial tcp 10.9.8.7:8123: connection refused")
	}
	return f.Conn.Query(ctx, sql, args...)
}

func TestHistoryByDateAndRange(t *testing.T) {
	t.Parallel()
	w := india(t)
	_, h, body := w.get(t, "/v1/aqi?city=Delhi&date=2026-11-18")
	want := strings.TrimSuffix(strings.Replace(strings.Replace(delhi, `"aqi":266,"category":"Poor"`, `"aqi":102,"category":"Moderate"`, 1),
		"2026-11-20T08:30", "2026-11-18T18:30", 1), "}") + `,"date":"2026-11-18"}`
	if diff := cmp.Diff(want, body); diff != "" {
		t.Error(diff)
	}
	if h.Get("ETag") == "" || !strings.HasPrefix(h.Get("Cache-Control"), "private, max-age=") {
		t.Errorf("headers %v", h)
	}
	for span, want := range map[string]int{
		"from=2026-11-18&to=2026-11-18": 1, "from=2026-11-18&to=2026-11-20": 3, "from=2026-01-01&to=2026-11-20": 41,
		"from=2026-11-18&to=2026-11-20&interval=day": 3, "from=2026-11-18&to=2026-11-20&interval=hour": 1,
	} {
		status, h, body := w.get(t, "/v1/aqi?city=Delhi&"+span)
		var r rangeReply
		if err := json.Unmarshal([]byte(body), &r); err != nil || status != http.StatusOK {
			t.Fatalf("%s: %d %s: %v", span, status, body, err)
		}
		if len(r.Records) != want || r.City != "Delhi" || r.Status != "success" {
			t.Errorf("%s: got %q with %d records of %q, want success with %d of Delhi", span, r.Status, len(r.Records), r.City, want)
		}
		if h.Get("Content-Length") != fmt.Sprint(len(body)) || h.Get("ETag") == "" {
			t.Errorf("%s: headers %v", span, h)
		}
		if status, _, _ := w.get(t, "/v1/aqi?city=Delhi&"+span, "If-None-Match", h.Get("ETag")); status != http.StatusNotModified {
			t.Errorf("%s: %d, want 304", span, status)
		}
	}
	_, _, body = w.get(t, "/v1/aqi?city=Delhi&date=2026-11-18&view=detail")
	if !strings.Contains(body, `"date":"2026-11-18","state":"Delhi"`) || !strings.Contains(body, `"stations_used":1`) {
		t.Error(body)
	}
}

func TestDetailedViewOfADay(t *testing.T) {
	t.Parallel()
	w := india(t)
	end := (schema.DayOf(hour) - 2).End()
	hours := func(aqi int) figure { return figure{at: end, aqi: aqi, amount: [6]float64{1, 2, 3, 4, 5, 6}} }
	w.station(t, w.live, "cpcb-mandir-marg", "Delhi", "Delhi", 28.6364, 77.2011, hours(90), figure{at: end.Add(-time.Hour), aqi: 80})
	w.station(t, w.live, "cpcb-rohini", "Delhi", "Delhi", 28.7325, 77.1199, hours(-1))
	w.rollup(t, w.live, end)
	w.refresh(t)
	aqi := 90
	for span, want := range map[string][]air.StationFigure{
		"2026-11-18": {
			{ID: "cpcb-mandir-marg", Name: "cpcb-mandir-marg name", Kind: "reference", AQI: &aqi, Updated: end},
			{ID: "cpcb-rohini", Name: "cpcb-rohini name", Kind: "reference", Updated: end},
		},
		"2026-11-17": {}, // only the city's day is stored
	} {
		var got air.Detail
		_, h, body := w.get(t, "/v1/aqi?city=Delhi&view=detail&date="+span)
		if err := json.Unmarshal([]byte(body), &got); err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		for i := range got.Stations {
			got.Stations[i].DistanceKM = nil
		}
		slices.SortFunc(got.Stations, func(a, b air.StationFigure) int { return strings.Compare(a.ID, b.ID) })
		if diff := cmp.Diff(want, got.Stations); diff != "" {
			t.Errorf("%s: stations (-want +got):\n%s", span, diff)
		}
		if h.Get("ETag") == "" {
			t.Errorf("%s: no ETag: %v", span, h)
		}
		if got.Stale || got.State != "Delhi" {
			t.Errorf("%s: stale %v, state %q; a day that is over does not grow stale: %s", span, got.Stale, got.State, body)
		}
		switch {
		case len(want) == 0 && len(got.Attribution)+len(got.Source) > 0:
			t.Errorf("%s: attribution %q of the sources %q, want none", span, got.Attribution, got.Source)
		case len(want) > 0 && !slices.Equal(got.Attribution, []string{"CPCB"}):
			t.Errorf("%s: attribution %q, want CPCB", span, got.Attribution)
		}
	}
}

func TestRollUpReloadsOnlyChangedDays(t *testing.T) {
	t.Parallel()
	w := india(t)
	conn := &flakyConn{Conn: w.conn}
	w.serve(t, func(c *query.Config) { c.Conn = conn })
	w.refresh(t)
	day := schema.DayOf(now)
	get := func(d schema.Day) int {
		_, _, body := w.get(t, "/v1/aqi?city=Delhi&date="+d.String())
		return record(t, body).AQI
	}
	span := fmt.Sprintf("/v1/aqi?city=Delhi&from=%s&to=%s", day-2, day)
	_, before, _ := w.get(t, span)
	if got := get(day); got != 100 {
		t.Fatalf("AQI %d, want 100", got)
	}
	conn.queries.Store(0)
	for d := day - 40; d <= day; d++ {
		get(d)
	}
	if n := conn.queries.Load(); n != 0 {
		t.Errorf("a city that is known cost %d queries", n)
	}
	full := figure{at: hour.Add(time.Hour), aqi: 77, amount: [6]float64{1, 2, 3, 4, 5, 6}}
	w.cityDay(t, w.live, "Delhi", "Delhi", day, full)
	w.cityHour(t, w.live, "Delhi", "Delhi", full)
	if got := get(day); got != 100 {
		t.Errorf("AQI %d before any roll-up is announced", got)
	}
	w.rollup(t, w.live, hour)
	w.refresh(t)
	if _, _, body := w.get(t, "/v1/aqi?city=Delhi"); record(t, body).AQI != 77 {
		t.Errorf("the current answer is the old one: %s", body)
	}
	if got := get(day); got != 77 {
		t.Errorf("AQI %d after the roll-up, want 77", got)
	}
	if got := get(day - 1); got != 101 {
		t.Errorf("the day before has AQI %d, want 101", got)
	}
	_, after, body := w.get(t, span)
	if got := after.Get("ETag"); got == before.Get("ETag") {
		t.Errorf("the range has the ETag %s of the old one", got)
	}
	if !strings.Contains(body, `"aqi":77`) {
		t.Errorf("the range is the old one: %s", body)
	}
	w.cityDay(t, w.live, "Delhi", "Delhi", day-30, figure{aqi: 499, amount: [6]float64{1, 2, 3, 4, 5, 6}})
	w.rollup(t, w.live, (day - 30).Start().Add(time.Hour))
	w.refresh(t)
	if got := get(day - 30); got != 499 {
		t.Errorf("a correction of an old day gives AQI %d, want 499", got)
	}
	w.rollup(t, w.live, hour)
	w.refresh(t)
	w.cityDay(t, w.live, "Delhi", "Delhi", day-35, figure{aqi: 498, amount: [6]float64{1, 2, 3, 4, 5, 6}})
	w.exec(t, fmt.Sprintf(`INSERT INTO %[1]s.rollup (at, started, hours_from, hours_to, stations)
		SELECT max(at) - INTERVAL 10 SECOND, max(at), toDateTime(%[2]d), toDateTime(%[2]d), 1 FROM %[1]s.rollup`, w.live, (day-35).Start().Add(time.Hour).Unix()))
	w.refresh(t)
	if got := get(day - 35); got != 498 {
		t.Errorf("a roll-up that became visible after a later one gives AQI %d, want 498", got)
	}
}

func TestAnswersWhileTheEngineIsDown(t *testing.T) {
	t.Parallel()
	w := india(t)
	dir := t.TempDir()
	conn := &flakyConn{Conn: w.conn}
	with := func(c *query.Config) { c.Conn, c.Directory = conn, dir }
	w.serve(t, with)
	w.refresh(t)
	_, first, _ := w.get(t, "/v1/aqi?city=Delhi")
	w.get(t, "/v1/aqi?city=Delhi&date=2026-11-18")
	conn.down.Store(true)
	if err := w.service.Refresh(t.Context(), schema.Live); err == nil {
		t.Error("a refresh without an engine reports success")
	}
	if _, _, body := w.get(t, "/v1/aqi?city=Delhi"); body != delhi {
		t.Errorf("current: %s", body)
	}
	if _, _, body := w.get(t, "/v1/aqi?city=Delhi&date=2026-11-17"); record(t, body).AQI != 103 {
		t.Errorf("a city that is known: %s", body)
	}
	for _, path := range []string{"/v1/aqi?city=Pune&date=2026-11-18", "/v1/aqi?city=Pune&from=2026-11-18&to=2026-11-19", "/v1/aqi?city=Delhi&from=2026-11-18&to=2026-11-19&interval=hour"} {
		status, h, body := w.get(t, path)
		checkProblem(t, status, h, body, schema.ServiceUnavailable, "")
		if h.Get("Retry-After") == "" || strings.Contains(body, "10.9.8.7") || !strings.Contains(body, `"retryable":true`) {
			t.Errorf("%v %s", h, body)
		}
	}

	w.serve(t, with) // a new process with only the file
	status, h, body := w.get(t, "/v1/aqi?city=Delhi")
	checkProblem(t, status, h, body, schema.ServiceUnavailable, "")
	if n := w.service.Restore(); n != 2 {
		t.Fatalf("%d worlds restored, want 2", n)
	}
	_, h, body = w.get(t, "/v1/aqi?city=Delhi")
	if body != delhi {
		t.Errorf("after a restart: got %s, want %s", body, delhi)
	}
	if got, want := h.Get("ETag"), first.Get("ETag"); got != want {
		t.Errorf("after a restart: got ETag %s, want %s", got, want)
	}
	if _, _, body := w.get(t, "/v1/aqi?city=Pune"); !strings.Contains(body, `"so2":7.5`) {
		t.Errorf("the filled value is missing: %s", body)
	}
	conn.down.Store(false)
	w.refresh(t)
	if _, _, body := w.get(t, "/v1/aqi?city=Delhi&date=2026-11-17"); record(t, body).AQI != 103 {
		t.Errorf("the engine is back: %s", body)
	}
}

func TestDamagedSnapshotIsIgnored(t *testing.T) {
	t.Parallel()
	w := india(t)
	dir := t.TempDir()
	w.serve(t, func(c *query.Config) { c.Directory = dir })
	w.refresh(t)
	path := filepath.Join(dir, "live.arrow")
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range [][]byte{nil, []byte("hello"), good[:len(good)/2], good[:len(good)-4], slices.Concat(good[:5000], make([]byte, 500), good[5500:])} {
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if n := w.service.Restore(); n != 1 {
			t.Errorf("%d bytes of %d: %d worlds restored, want the sandbox alone", len(bad), len(good), n)
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 2 {
		t.Errorf("files left behind: %v %v", left, err)
	}
}

// countingConn counts queries of a table.
type countingConn struct {
	aggregate.Conn
	table   string
	queries atomic.Int64
}

func (c *countingConn) Query(ctx context.Context, sql string, args ...any) (driver.Rows, error) {
	if strings.Contains(sql, c.table) {
		c.queries.Add(1)
	}
	return c.Conn.Query(ctx, sql, args...)
}

// A query for a day of many cities reads them together, first and after new figures. The cities are those that single
// queries return.
func TestADayOfManyCitiesIsOneQuery(t *testing.T) {
	t.Parallel()
	w := india(t)
	conn := &countingConn{Conn: w.conn, table: w.live + ".city_day"}
	w.serve(t, func(c *query.Config) { c.Conn = conn })
	w.refresh(t)
	const path = "/v1/aqi?cities=Delhi,Pune,Aurangabad%2CBihar,Delhi,Nowhere,Kochi&date=2026-11-19"
	ask := func(name string, want int64) (body string) {
		t.Helper()
		before := conn.queries.Load()
		_, _, body = w.get(t, path)
		if got := conn.queries.Load() - before; got != want {
			t.Errorf("%s: %d queries of days, want %d", name, got, want)
		}
		return body
	}
	first := ask("the first time", 1)
	if again := ask("from memory", 0); again != first {
		t.Errorf("from memory: %s, want %s", again, first)
	}
	for _, city := range []string{"Delhi", "Pune"} {
		if _, _, one := w.get(t, "/v1/aqi?city="+city+"&date=2026-11-19"); !strings.Contains(first, one) {
			t.Errorf("%s alone is %s, among others it is not: %s", city, one, first)
		}
	}
	w.rollup(t, w.live, hour.Add(-72*time.Hour))
	w.refresh(t) // it invalidates the days
	if again := ask("after new figures", 1); again != first {
		t.Errorf("after new figures: %s, want %s", again, first)
	}
}
