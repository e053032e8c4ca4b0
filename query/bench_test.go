package query_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/mux"

	"vayu/internal/httpapi/httpapitest"
	"vayu/schema"
)

// rawClient repeats one request over a kept-alive connection, with minimal work on
// the client's side. It shares the machine with the server.
type rawClient struct {
	conn    net.Conn
	in      *bufio.Reader
	request []byte
}

func newClient(t testing.TB, base, key, path string) *rawClient {
	t.Helper()
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", u.Host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &rawClient{conn, bufio.NewReaderSize(conn, 64<<10),
		fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n", path, u.Host, key)}
}

// roundTrip sends the request and returns the length of the reply's body.
func (c *rawClient) roundTrip(t testing.TB) int {
	t.Helper()
	if _, err := c.conn.Write(c.request); err != nil {
		t.Fatal(err)
	}
	length := -1
	for first := true; ; first = false {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			t.Fatal(err)
		}
		if first && string(line) != "HTTP/1.1 200 OK\r\n" {
			t.Fatalf("reply %q", line)
		}
		if len(line) == 2 {
			break
		}
		if n, ok := strings.CutPrefix(string(line), "Content-Length: "); ok {
			if _, err := fmt.Sscan(n, &length); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := c.in.Discard(length); err != nil {
		t.Fatal(err)
	}
	return length
}

// floor serves a body through a bare gorilla/mux router with the same server
// settings: the minimum cost of an answer over HTTP.
func floor(t testing.TB, path string, body []byte) string {
	t.Helper()
	r := mux.NewRouter()
	r.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		_, _ = w.Write(body)
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return serveOn(t, l, r)
}

// compare measures two clients in turns in the same run, and reports ours
// as a ratio of the floor's throughput.
func compare(b *testing.B, ours, bare *rawClient) {
	b.Helper()
	const round = 200
	var mine, theirs []float64
	for range 50 {
		ours.roundTrip(b)
		bare.roundTrip(b)
	}
	b.ResetTimer()
	for n := 0; n < b.N || len(mine) < 24; n += round {
		for _, side := range [...]struct {
			c   *rawClient
			out *[]float64
		}{{ours, &mine}, {bare, &theirs}} {
			began := time.Now()
			for range round {
				side.c.roundTrip(b)
			}
			*side.out = append(*side.out, float64(time.Since(began).Nanoseconds())/round)
		}
	}
	a, z := median(mine), median(theirs)
	b.ReportMetric(a, "ns/ours")
	b.ReportMetric(z, "ns/floor")
	b.ReportMetric(z/a, "ratio")
}

func median(v []float64) float64 {
	sort.Float64s(v)
	return v[len(v)/2]
}

func body(b *testing.B, w *fixture, path string) []byte {
	b.Helper()
	status, _, text := w.get(b, path)
	if status != http.StatusOK {
		b.Fatalf("%s: %d %s", path, status, text)
	}
	return []byte(text)
}

// BenchmarkCurrentAgainstBareMux: at least 0.75, with keys, limits and quotas.
func BenchmarkCurrentAgainstBareMux(b *testing.B) {
	w := india(b)
	path := "/v1/aqi?city=Delhi"
	compare(b, newClient(b, w.url, w.key, path), newClient(b, floor(b, "/v1/aqi", body(b, w, path)), w.key, path))
}

// BenchmarkDateAgainstBareMux: at least 0.6.
func BenchmarkDateAgainstBareMux(b *testing.B) {
	w := india(b)
	path := "/v1/aqi?city=Delhi&date=2026-11-10"
	compare(b, newClient(b, w.url, w.key, path), newClient(b, floor(b, "/v1/aqi", body(b, w, path)), w.key, path))
}

// BenchmarkRangeAgainstBareMux: at least 0.6.
func BenchmarkRangeAgainstBareMux(b *testing.B) {
	for _, days := range [...]int{30, 366} {
		b.Run(fmt.Sprint(days), func(b *testing.B) {
			w := yearsOf(b, 10)
			path := fmt.Sprintf("/v1/aqi?city=Delhi&from=%s&to=%s", schema.DayOf(now)-schema.Day(days-1), schema.DayOf(now))
			compare(b, newClient(b, w.url, w.key, path), newClient(b, floor(b, "/v1/aqi", body(b, w, path)), w.key, path))
		})
	}
}

// BenchmarkTileAgainstBareMux: at least 0.6, for tiles that are in memory.
func BenchmarkTileAgainstBareMux(b *testing.B) {
	w := india(b)
	for _, path := range [...]string{"/v1/tiles/stations/4/11/6.mvt", "/v1/tiles/surface/6/45/26.png"} {
		b.Run(strings.Split(path, "/")[3], func(b *testing.B) {
			compare(b, newClient(b, w.url, w.key, path), newClient(b, floor(b, path, body(b, w, path)), w.key, path))
		})
	}
}

// BenchmarkListsAgainstBareMux: at least 0.6, for pages of ten among 300 cities and 600 stations.
func BenchmarkListsAgainstBareMux(b *testing.B) {
	w := countryFixture(b, 300, 600, 1)
	for _, path := range [...]string{
		"/v1/places?q=town&limit=10", "/v1/places?q=tovn&limit=10", "/v1/rankings?limit=10", "/v1/cities?limit=10",
		"/v1/stations?limit=10", "/v1/stations?near=20.5,78&limit=10", "/v1/stations?bbox=77,20,79,21&limit=10", "/v1/aqi?station=made-1",
	} {
		b.Run(strings.TrimPrefix(path, "/v1/"), func(b *testing.B) {
			route, _, _ := strings.Cut(path, "?")
			compare(b, newClient(b, w.url, w.key, path), newClient(b, floor(b, route, body(b, w, path)), w.key, path))
		})
	}
}

// BenchmarkBoxAgainstBareMux: at least 0.6, for a box with few cities.
func BenchmarkBoxAgainstBareMux(b *testing.B) {
	w := countryFixture(b, 300, 600, 1)
	for _, box := range [...]string{"77.9,20.3,78.1,20.9", "68,6,98,38"} {
		b.Run(box, func(b *testing.B) {
			path := "/v1/aqi?bbox=" + box
			compare(b, newClient(b, w.url, w.key, path), newClient(b, floor(b, "/v1/aqi", body(b, w, path)), w.key, path))
		})
	}
}

// BenchmarkIndexAgainstBareMux: at least 0.6, for indices of other scales. The first request for a city reads hourly
// means, and the next ones are in memory.
func BenchmarkIndexAgainstBareMux(b *testing.B) {
	w := india(b)
	for _, scale := range [...]string{"in", "us", "eu", "who"} {
		b.Run(scale, func(b *testing.B) {
			path := "/v1/aqi?city=Delhi&scale=" + scale
			compare(b, newClient(b, w.url, w.key, path), newClient(b, floor(b, "/v1/aqi", body(b, w, path)), w.key, path))
		})
	}
}

// BenchmarkBulkAgainstSingle reports the cost of 100 cities as a multiple of one:
// at most 6.
func BenchmarkBulkAgainstSingle(b *testing.B) {
	w := india(b)
	names := make([]string, 100)
	for i := range names {
		names[i] = [...]string{"Delhi", "Pune", "Kanpur", "Kochi", "Sri%20Vijaya%20Puram"}[i%5]
	}
	single := newClient(b, w.url, w.key, "/v1/aqi?city=Delhi")
	bulk := newClient(b, w.url, w.key, "/v1/aqi?cities="+strings.Join(names, ","))
	compare(b, bulk, single)
}

// BenchmarkFirstBulkOfAScale reports the first bulk query for 100 cities with an index of hourly means as a multiple of the
// first query for one city: at most 20. Later queries are in memory.
func BenchmarkFirstBulkOfAScale(b *testing.B) {
	w := countryFixture(b, 100, 600, 1)
	w.exec(b, fmt.Sprintf(`INSERT INTO %s.station_parameter_hour (station, parameter, kind, at, mean, count, expected, flag, averaging, updated)
		SELECT 'made-' || toString(number %% 600), ['pm25', 'pm10', 'no2', 'so2', 'o3', 'co'][1 + intDiv(number, 600) %% 6], 'concentration',
			toDateTime(%d) - 3600 * intDiv(number, 3600) AS hour, 20 + number %% 50, 4, 4, 'good', 15, hour FROM numbers(600 * 6 * 48)`, w.live, hour.Unix()))
	names := make([]string, 100)
	for n := range names {
		names[n] = town(n)
	}
	var one, hundred []float64
	for range 10 {
		w.serve(b)
		w.refresh(b)
		for path, took := range map[string]*[]float64{"city=" + town(0): &one, "cities=" + strings.Join(names, ","): &hundred} {
			c := newClient(b, w.url, w.key, "/v1/aqi?"+path+"&scale=us")
			began := time.Now()
			c.roundTrip(b)
			*took = append(*took, float64(time.Since(began).Nanoseconds()))
		}
	}
	b.ReportMetric(median(one), "ns/one")
	b.ReportMetric(median(hundred), "ns/hundred")
	b.ReportMetric(median(hundred)/median(one), "ratio")
}

// BenchmarkFirstQuery reports the first query for a city with ten years of days as
// a multiple of the raw SQL query: at most 1.5.
func BenchmarkFirstQuery(b *testing.B) { benchFirstQuery(b, yearsOf(b, 10), "Delhi", 3650) }

// benchFirstQuery queries a city of the state Delhi with at least so many days,
// each time from a new service.
func benchFirstQuery(b *testing.B, w *fixture, city string, days int) {
	b.Helper()
	var raw, first []float64
	for range 30 {
		began := time.Now()
		n := drain(b, w, fmt.Sprintf("SELECT * FROM %s.city_day FINAL WHERE city = '%s' AND state = 'Delhi' ORDER BY day", w.live, city))
		if n < days {
			b.Fatalf("%d days", n)
		}
		raw = append(raw, float64(time.Since(began).Nanoseconds()))
		w.serve(b)
		w.refresh(b)
		c := newClient(b, w.url, w.key, "/v1/aqi?city="+city+"&date=2026-11-10")
		began = time.Now()
		c.roundTrip(b)
		first = append(first, float64(time.Since(began).Nanoseconds()))
	}
	b.ReportMetric(median(raw), "ns/raw")
	b.ReportMetric(median(first), "ns/first")
	b.ReportMetric(median(first)/median(raw), "ratio")
}

// yearsOf stores years of days of Delhi.
func yearsOf(b *testing.B, years int) *fixture {
	b.Helper()
	w := india(b)
	w.exec(b, fmt.Sprintf(`INSERT INTO %[1]s.city_day (city,state,day,%[2]s,stations_used,stations_total)
		SELECT 'Delhi','Delhi', toDate('2026-11-20') - number, toDateTime('2026-11-20 18:30:00') - number * 86400, 100.26 + number %% 50, 200.5, 30, 10.25, 1.13, 40.5,
		100,200,30,10,56,40, 200, 'pm10', toDateTime('2026-11-20 18:30:00') - number * 86400, 40, 40 FROM numbers(%[3]d)`,
		w.live, figureColumns, years*365))
	w.serve(b)
	w.refresh(b)
	return w
}

// BenchmarkHandler reports the allocations of a current answer in the handler
// chain: the body has none.
func BenchmarkHandler(b *testing.B) {
	w := india(b)
	h := w.routes(b, httpapitest.Keys{liveKey, sandboxKey})
	r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, "/v1/aqi?city=Delhi", http.NoBody)
	if err != nil {
		b.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+liveKey)
	sink := &discard{header: http.Header{}}
	b.ReportAllocs()
	for b.Loop() {
		clear(sink.header)
		h.ServeHTTP(sink, r)
	}
}

type discard struct{ header http.Header }

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }
func (d *discard) WriteHeader(int)             {}

// BenchmarkSteadyLoad sends 2,000 requests a second over 16 connections and reports
// the 99th percentile: under 3 ms.
func BenchmarkSteadyLoad(b *testing.B) {
	w := india(b)
	const connections, rate = 16, 2000
	ctx, cancel := context.WithTimeout(b.Context(), 5*time.Second)
	defer cancel()
	var mu sync.Mutex
	var all []float64
	var wait sync.WaitGroup
	for i := range connections {
		c := newClient(b, w.url, w.key, "/v1/aqi?city=Delhi")
		wait.Go(func() {
			gap := time.Second * connections / rate
			next := time.Now().Add(gap * time.Duration(i) / connections)
			var mine []float64
			for ctx.Err() == nil {
				<-time.After(time.Until(next)) // fixed schedule
				c.roundTrip(b)
				mine = append(mine, float64(time.Since(next).Nanoseconds())) // includes queueing
				next = next.Add(gap)
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, mine...)
		})
	}
	wait.Wait()
	sort.Float64s(all)
	b.ReportMetric(all[len(all)*99/100], "ns/p99")
	b.ReportMetric(all[len(all)/2], "ns/p50")
	b.ReportMetric(float64(len(all))/5, "req/s")
}

// BenchmarkForecastAgainstBareMux: at least 0.7, as current air.
func BenchmarkForecastAgainstBareMux(b *testing.B) {
	w := india(b)
	w.issue(b)
	path := "/v1/forecast?city=Delhi"
	compare(b, newClient(b, w.url, w.key, path), newClient(b, floor(b, "/v1/forecast", body(b, w, path)), w.key, path))
}

// BenchmarkPublicAgainstBareMux: at least 0.6, for replies that are in memory.
func BenchmarkPublicAgainstBareMux(b *testing.B) {
	w := india(b)
	for _, path := range publicPaths() {
		b.Run(strings.TrimPrefix(path, "/public/v1/"), func(b *testing.B) {
			route, _, _ := strings.Cut(path, "?")
			compare(b, newClient(b, w.url, w.key, path), newClient(b, floor(b, route, body(b, w, path)), w.key, path))
		})
	}
}
