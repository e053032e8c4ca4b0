package query_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/columnstore/columnstoretest"
	"vayu/internal/httpapi/httpapitest"
	"vayu/internal/httpapi/server"
	"vayu/query"
	"vayu/query/public"
	"vayu/schema"
)

func TestMain(m *testing.M) { columnstoretest.Main(m) }

const (
	liveKey    = "sk_live_for_tests_only"
	sandboxKey = "sk_test_for_tests_only"
)

// now is 20 November 2026, 14:42 in India.
var now = time.Date(2026, 11, 20, 9, 12, 0, 0, time.UTC)

// hour is the last Indian hour that ended before now.
var hour = time.Date(2026, 11, 20, 8, 30, 0, 0, time.UTC)

// fixture holds one test's databases, service and server.
type fixture struct {
	conn    driver.Conn
	live    string
	sandbox string
	service *query.Service
	url     string
	key     string // key of world live
	public  public.Setting
	pending map[string][]string // rows by INSERT, which flush stores; nil if insert stores them at once
}

// patientConn is a connection whose queries ignore time limits, because the engine of a busy machine may take longer.
// Tests of time limits use hangingConn.
type patientConn struct{ driver.Conn }

func (c patientConn) Query(ctx context.Context, sql string, args ...any) (driver.Rows, error) {
	return c.Conn.Query(context.WithoutCancel(ctx), sql, args...)
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	db := columnstoretest.New(t)
	return &fixture{conn: patientConn{db.Conn()}, live: columnstoretest.Migrated(t, db), sandbox: columnstoretest.Migrated(t, db), public: "live"}
}

// serve starts the service and its API on a socket.
func (w *fixture) serve(t testing.TB, change ...func(*query.Config)) {
	t.Helper()
	c := query.Config{
		Conn: w.conn, Metrics: prometheus.NewRegistry(), Now: func() time.Time { return now },
		Database: func(x schema.World) string {
			if x == schema.Sandbox {
				return w.sandbox
			}
			return w.live
		},
	}
	for _, f := range change {
		f(&c)
	}
	var err error
	if w.service, err = query.New(c); err != nil {
		t.Fatal(err)
	}
	w.service.ExtendTimeouts(time.Minute) // the newest days, also on a busy machine
	if b, ok := t.(*testing.B); ok {
		w.serveWithAccess(b)
		return
	}
	w.key = liveKey
	w.url = listen(t, w.routes(t, httpapitest.Keys{liveKey, sandboxKey}))
}

// listen serves a handler on a socket, as the program does.
func listen(t testing.TB, h http.Handler) string {
	t.Helper()
	raw, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := server.NewListener(raw, nil, nil, server.Connections{})
	return serveOn(t, l, h)
}

func serveOn(t testing.TB, l net.Listener, h http.Handler) string {
	t.Helper()
	s := server.New(h, nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Serve(l)
	}()
	t.Cleanup(func() {
		_ = s.Close()
		<-done
	})
	return "http://" + l.Addr().String()
}

func (w *fixture) refresh(t testing.TB) {
	t.Helper()
	for _, x := range schema.Worlds {
		if err := w.service.Refresh(t.Context(), x); err != nil {
			t.Fatal(err)
		}
	}
}

func (w *fixture) exec(t testing.TB, sql string) {
	t.Helper()
	if err := w.conn.Exec(context.WithoutCancel(t.Context()), sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// insert stores rows, or lets flush store them in one statement.
func (w *fixture) insert(t testing.TB, into string, rows ...string) {
	t.Helper()
	if w.pending != nil {
		w.pending[into] = append(w.pending[into], rows...)
	} else if len(rows) > 0 {
		w.exec(t, "INSERT INTO "+into+" VALUES "+strings.Join(rows, ","))
	}
}

// flush stores the pending rows. From now on insert stores rows at once.
func (w *fixture) flush(t testing.TB) {
	t.Helper()
	pending := w.pending
	w.pending = nil
	for into, rows := range pending {
		w.insert(t, into, rows...)
	}
}

// get sends a request with the live key and returns the reply's status, headers and
// body.
func (w *fixture) get(t testing.TB, path string, headers ...string) (int, http.Header, string) {
	t.Helper()
	return w.do(t, http.MethodGet, path, append([]string{"Authorization", "Bearer " + w.key}, headers...)...)
}

// getInto decodes a reply of status 200 into out, and returns its headers and its body.
func (w *fixture) getInto(t testing.TB, path string, out any) (http.Header, string) {
	t.Helper()
	status, h, body := w.get(t, path)
	if status != http.StatusOK {
		t.Fatalf("%s: status %d: %s", path, status, body)
	}
	decode(t, body, out)
	return h, body
}

func decode(t testing.TB, body string, out any) {
	t.Helper()
	if err := json.Unmarshal([]byte(body), out); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
}

var transport = &http.Transport{DisableCompression: true}

func (w *fixture) do(t testing.TB, method, path string, headers ...string) (int, http.Header, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, w.url, nil)
	if err != nil {
		t.Fatal(err)
	}
	// The path is sent unchanged, even if net/url would reject it.
	raw, q, _ := strings.Cut(path, "?")
	r.URL.Opaque, r.URL.RawQuery = "//"+r.URL.Host+raw, q
	if strings.HasPrefix(raw, "//") {
		r.URL.Opaque = "http://" + r.URL.Host + raw
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := httpapitest.Transport(t, transport).RoundTrip(r)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(body)
}

// figure is a row of a table of hours or days.
type figure struct {
	at     time.Time
	aqi    int // -1: NULL
	amount [6]float64
	used   int
}

// gap is a missing amount.
var gap = math.NaN()

func (f figure) columns() string {
	var b strings.Builder
	fmt.Fprintf(&b, "toDateTime(%d,'UTC')", f.at.Unix())
	for _, v := range f.amount {
		if math.IsNaN(v) {
			b.WriteString(",NULL")
		} else {
			fmt.Fprintf(&b, ",%v", v)
		}
	}
	for _, v := range f.amount {
		if math.IsNaN(v) {
			b.WriteString(",NULL")
		} else {
			fmt.Fprintf(&b, ",%d", min(500, int(v)))
		}
	}
	if f.aqi < 0 {
		b.WriteString(",NULL,'none'")
	} else {
		fmt.Fprintf(&b, ",%d,'pm10'", f.aqi)
	}
	fmt.Fprintf(&b, ",toDateTime(%d,'UTC')", f.at.Unix())
	return b.String()
}

const figureColumns = "at,pm25,pm10,no2,so2,co,o3,pm25_index,pm10_index,no2_index,so2_index,co_index,o3_index,aqi,dominant,updated"

func (w *fixture) station(t testing.TB, db, id, city, state string, lat, lon float64, hours ...figure) {
	t.Helper()
	w.insert(t, db+".station (id, source, name, city, state, latitude, longitude, kind, attribution, licence, first_seen, last_seen)",
		fmt.Sprintf("('%s','cpcb','%s name','%s','%s',%v,%v,'reference','CPCB','GODL-India',toDateTime(%d),toDateTime(%d))",
			id, id, city, state, lat, lon, hour.Add(-time.Hour).Unix(), hour.Unix()))
	rows := make([]string, len(hours))
	for i, f := range hours {
		rows[i] = fmt.Sprintf("('%s',%s)", id, f.columns())
	}
	w.insert(t, db+".station_hour (station,"+figureColumns+")", rows...)
}

func (w *fixture) cityHour(t testing.TB, db, city, state string, hours ...figure) {
	t.Helper()
	rows := make([]string, len(hours))
	for i, f := range hours {
		rows[i] = fmt.Sprintf("('%s','%s',%d,%d,%s)", city, state, max(f.used, 1), max(f.used, 1), f.columns())
	}
	w.insert(t, db+".city_hour (city,state,stations_used,stations_total,"+figureColumns+")", rows...)
}

// cityDay inserts consecutive days of a city, the first of which is from.
func (w *fixture) cityDay(t testing.TB, db, city, state string, from schema.Day, days ...figure) {
	t.Helper()
	rows := make([]string, len(days))
	for i, f := range days {
		day := from + schema.Day(i)
		if f.at = day.End(); f.at.After(hour) {
			f.at = hour
		}
		rows[i] = fmt.Sprintf("('%s','%s','%s',%d,%d,%s)", city, state, day, max(f.used, 1), max(f.used, 1), f.columns())
	}
	w.insert(t, db+".city_day (city,state,day,stations_used,stations_total,"+figureColumns+")", rows...)
}

func (w *fixture) rollup(t testing.TB, db string, from time.Time) {
	t.Helper()
	w.exec(t, fmt.Sprintf("INSERT INTO %s.rollup (started, hours_from, hours_to, stations) VALUES (now64(3), toDateTime(%d), toDateTime(%d), 1)",
		db, from.Unix(), hour.Unix()))
}

// india returns a fixture with the cities of the tests.
func india(t testing.TB) *fixture {
	t.Helper()
	w := newFixture(t)
	w.pending = make(map[string][]string)
	full := func(at time.Time, aqi int) figure {
		return figure{at: at, aqi: aqi, amount: [6]float64{100.256, 200, 30, 10, 1.13, 40.5}}
	}
	holed := func(at time.Time, aqi int) figure {
		return figure{at: at, aqi: aqi, amount: [6]float64{60, 90, 20, gap, 0.8, gap}}
	}
	w.station(t, w.live, "cpcb-anand-vihar", "Delhi", "Delhi", 28.6469, 77.3161, full(hour, 331))
	w.station(t, w.live, "cpcb-mandir-marg", "Delhi", "Delhi", 28.6364, 77.2011, full(hour, 200), full(hour.Add(-time.Hour), 190))
	w.cityHour(t, w.live, "Delhi", "Delhi", figure{at: hour, aqi: 266, used: 2, amount: [6]float64{100.256, 200, 30, 10, 1.13, 40.5}})
	w.station(t, w.live, "cpcb-karve-road", "Pune", "Maharashtra", 18.4975, 73.8135, holed(hour, 95))
	w.station(t, w.live, "cpcb-lonavala", "", "", 18.7557, 73.4091,
		figure{at: hour.Add(-5 * time.Hour), aqi: -1, amount: [6]float64{gap, gap, gap, 7.5, gap, gap}},
		figure{at: hour, aqi: -1, amount: [6]float64{gap, 50, gap, gap, gap, gap}})
	w.cityHour(t, w.live, "Pune", "Maharashtra", holed(hour, 95))
	w.station(t, w.live, "cpcb-aurangabad-b", "Aurangabad", "Bihar", 24.757, 84.366, full(hour, 120))
	w.cityHour(t, w.live, "Aurangabad", "Bihar", full(hour, 120))
	w.station(t, w.live, "cpcb-aurangabad-m", "Aurangabad", "Maharashtra", 19.838, 75.247, full(hour, 80))
	w.cityHour(t, w.live, "Aurangabad", "Maharashtra", full(hour, 80))
	w.station(t, w.live, "cpcb-port-blair", "Sri Vijaya Puram", "Andaman and Nicobar Islands", 11.66, 92.74, full(hour, 40),
		figure{at: hour.Add(time.Hour), aqi: -1, amount: [6]float64{gap, 50, gap, gap, gap, gap}}) // too few for an AQI
	w.cityHour(t, w.live, "Sri Vijaya Puram", "Andaman and Nicobar Islands", full(hour, 40))
	w.station(t, w.live, "cpcb-nehru-nagar", "Kanpur", "Uttar Pradesh", 26.47, 80.32)
	w.cityHour(t, w.live, "Kanpur", "Uttar Pradesh", full(hour.Add(-50*time.Hour), 300))
	w.station(t, w.live, "cpcb-silent", "Byrnihat", "Assam", 26.05, 91.86)
	today := schema.DayOf(now)
	var days []figure
	for age := 40; age >= 0; age-- {
		days = append(days, full(time.Time{}, 100+age))
	}
	w.cityDay(t, w.live, "Delhi", "Delhi", today-40, days...)
	w.cityDay(t, w.live, "Pune", "Maharashtra", schema.DayOf(hour)-1, holed(time.Time{}, 70))
	w.station(t, w.live, "cpcb-vyttila", "Kochi", "Kerala", 9.97, 76.32)
	w.cityHour(t, w.live, "Kochi", "Kerala", full((today-400).End(), 60))
	w.cityDay(t, w.live, "Kochi", "Kerala", today-400, full(time.Time{}, 60))
	w.station(t, w.sandbox, "sim-delhi", "Delhi", "Delhi", 28.6, 77.2, full(hour, 111))
	w.cityHour(t, w.sandbox, "Delhi", "Delhi", full(hour, 111))
	w.flush(t)
	w.rollup(t, w.live, hour.Add(-24*time.Hour))
	w.rollup(t, w.sandbox, hour)
	w.serve(t)
	w.refresh(t)
	return w
}

// run starts the service's Run, waits for the pin codes, and stops it at the end of
// the test.
func run(t testing.TB, w *fixture, change ...func(*query.Config)) {
	t.Helper()
	w.serve(t, append([]func(*query.Config){usePins(t)}, change...)...)
	w.refresh(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = w.service.Run(ctx)
	}()
	w.service.WaitForPins(ctx)
	t.Cleanup(func() {
		cancel()
		<-done
	})
}

func asProblem(err error, p **schema.Problem) bool { return errors.As(err, p) }
