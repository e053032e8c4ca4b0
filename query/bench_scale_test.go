package query_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"vayu/internal/httpapi/httpapitest"
	testfixture "vayu/internal/testing/fixture"
	"vayu/schema"
)

// town is the name of the nth generated city; townSQL is the same in SQL.
func town(n int) string { return fmt.Sprintf("Town%c%c", 'A'+n/26%26, 'a'+n%26) }

const townSQL = "concat('Town', char(65 + intDiv(%[1]s, 26) %% 26), char(97 + %[1]s %% 26))"

// countryFixture stores so many cities, their stations, and years of days of every
// city. India has some 300 cities with 600 stations.
func countryFixture(b *testing.B, cities, stations, years int) *fixture {
	b.Helper()
	w := newFixture(b)
	of := fmt.Sprintf(townSQL, fmt.Sprintf("(number %% %d)", cities))
	const amounts = "100.26 + number % 50, 200.5, 30, 10.25, 1.13, 40.5, 100, 200, 30, 10, 56, 40"
	w.exec(b, fmt.Sprintf(`INSERT INTO %s.station (id, source, name, city, state, latitude, longitude, kind, attribution, licence, first_seen, last_seen)
		SELECT 'made-' || toString(number), 'made', 'Station ' || toString(number), %s, 'Delhi', if(number = 0, 20.5, 8 + cityHash64(number) %% 2500 / 100), if(number = 0, 78, 70 + cityHash64(number + 1) %% 2500 / 100),
			'reference', 'Made', 'none', toDateTime(%d), toDateTime(%d) FROM numbers(%d)`, w.live, of, hour.Add(-time.Hour).Unix(), hour.Unix(), stations))
	w.exec(b, fmt.Sprintf(`INSERT INTO %s.station_hour (station,%s) SELECT 'made-' || toString(number), toDateTime(%d), %s, 200, 'pm10', toDateTime(%[3]d)
		FROM numbers(%[5]d)`, w.live, figureColumns, hour.Unix(), amounts, stations))
	w.exec(b, fmt.Sprintf(`INSERT INTO %s.city_hour (city, state, stations_used, stations_total,%s) SELECT %s, 'Delhi', 2, 2, toDateTime(%d), %s, 200, 'pm10', toDateTime(%[4]d)
		FROM numbers(%[6]d)`, w.live, figureColumns, of, hour.Unix(), amounts, cities))
	w.exec(b, fmt.Sprintf(`INSERT INTO %[1]s.city_day (city, state, day, stations_used, stations_total,%[2]s)
		SELECT %[3]s, 'Delhi', toDate('2026-11-20') - intDiv(number, %[4]d) AS d, 2, 2, toDateTime('2026-11-20 18:30:00') - intDiv(number, %[4]d) * 86400, %[5]s, 200, 'pm10',
			toDateTime('2026-11-20 18:30:00') - intDiv(number, %[4]d) * 86400 FROM numbers(%[6]d)`, w.live, figureColumns, of, cities, amounts, cities*years*365))
	w.rollup(b, w.live, hour.Add(-24*time.Hour))
	w.serve(b)
	w.refresh(b)
	return w
}

// commonQueries are the most frequent queries in a country with so many cities.
func commonQueries(cities int) []struct{ name, path string } {
	names := make([]string, 100)
	for i := range names {
		names[i] = town(i % cities)
	}
	today := schema.DayOf(now)
	return []struct{ name, path string }{
		{"current", "/v1/aqi?city=" + town(0)},
		{"range30", fmt.Sprintf("/v1/aqi?city=%s&from=%s&to=%s", town(0), today-29, today)},
		{"bulk100", "/v1/aqi?cities=" + strings.Join(names, ",")},
	}
}

// BenchmarkScaleRequest measures a request with so many cities against the same
// bytes from a bare mux.
func BenchmarkScaleRequest(b *testing.B) {
	for _, cities := range [...]int{1, 10, 100, 300} {
		b.Run(fmt.Sprintf("cities=%d", cities), func(b *testing.B) {
			w := countryFixture(b, cities, 2*cities, 1)
			for _, q := range commonQueries(cities) {
				b.Run(q.name, func(b *testing.B) {
					compare(b, newClient(b, w.url, w.key, q.path), newClient(b, floor(b, "/v1/aqi", body(b, w, q.path)), w.key, q.path))
				})
			}
		})
	}
}

// BenchmarkScaleHistory measures history with so many years of 300 cities. It
// compares a cached range with a bare mux, and a city's first query with the raw
// SQL query.
func BenchmarkScaleHistory(b *testing.B) {
	for _, years := range [...]int{1, 3, 10} {
		b.Run(fmt.Sprintf("years=%d", years), func(b *testing.B) {
			w := countryFixture(b, 300, 600, years)
			today := schema.DayOf(now)
			for _, days := range [...]int{30, 366} {
				b.Run(fmt.Sprintf("range%d", days), func(b *testing.B) {
					path := fmt.Sprintf("/v1/aqi?city=%s&from=%s&to=%s", town(7), today-schema.Day(days-1), today)
					compare(b, newClient(b, w.url, w.key, path), newClient(b, floor(b, "/v1/aqi", body(b, w, path)), w.key, path))
				})
			}
			b.Run("first", func(b *testing.B) { benchFirstQuery(b, w, town(7), years*365) })
		})
	}
}

// BenchmarkScaleStations measures an API server with so many stations. It compares
// a refresh after a roll-up, with all new hours and all answers, with reading the
// same rows. It also measures a query for a position, which has no prepared answer.
func BenchmarkScaleStations(b *testing.B) {
	for _, stations := range [...]int{100, 1_000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("stations=%d", stations), func(b *testing.B) {
			w := countryFixture(b, 300, stations, 1)
			b.Run("refresh", func(b *testing.B) { benchRefresh(b, w, stations) })
			b.Run("position", func(b *testing.B) {
				path := "/v1/aqi?lat=20.5&lon=78"
				compare(b, newClient(b, w.url, w.key, path), newClient(b, floor(b, "/v1/aqi", body(b, w, path)), w.key, path))
			})
		})
	}
}

// BenchmarkScalePosition compares a query for a position among 100,000 stations
// with one among 100. The limit is twice the time, a ratio of at least 0.5.
func BenchmarkScalePosition(b *testing.B) {
	few, many := countryFixture(b, 300, 100, 1), countryFixture(b, 300, 100_000, 1)
	path := "/v1/aqi?lat=20.5&lon=78"
	compare(b, newClient(b, many.url, many.key, path), newClient(b, few.url, few.key, path))
}

// BenchmarkScaleChanged measures a refresh after 100 of so many stations have new
// hours. It compares it with reading those rows and with a full refresh. The limit
// with 100,000 stations is 100 ms.
func BenchmarkScaleChanged(b *testing.B) {
	for _, stations := range [...]int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("stations=%d", stations), func(b *testing.B) {
			w := countryFixture(b, 300, stations, 1)
			w.rollup(b, w.live, hour)
			w.refresh(b) // loads the digests of the hours
			var changed, whole []float64
			for range 7 {
				w.exec(b, fmt.Sprintf(`INSERT INTO %[1]s.station SELECT * REPLACE (last_seen + 60 AS last_seen) FROM %[1]s.station FINAL
					WHERE id IN (SELECT 'made-' || toString(number * %[2]d) FROM numbers(100))`, w.live, stations/100))
				w.exec(b, fmt.Sprintf(`INSERT INTO %[1]s.station_hour SELECT * REPLACE (now64(3) AS computed_at, aqi + 1 AS aqi) FROM %[1]s.station_hour FINAL
					WHERE station IN (SELECT 'made-' || toString(number * %[2]d) FROM numbers(100))`, w.live, stations/100))
				w.rollup(b, w.live, hour)
				began := time.Now()
				if err := w.service.Refresh(b.Context(), schema.Live); err != nil {
					b.Fatal(err)
				}
				changed = append(changed, time.Since(began).Seconds()*1e3)
			}
			for range 3 {
				w.serve(b)
				began := time.Now()
				if err := w.service.Refresh(b.Context(), schema.Live); err != nil {
					b.Fatal(err)
				}
				whole = append(whole, time.Since(began).Seconds()*1e3)
			}
			b.ReportMetric(median(changed), "ms/changed")
			b.ReportMetric(median(whole), "ms/whole")
			b.ReportMetric(median(whole)/median(changed), "ratio")
		})
	}
}

func benchRefresh(b *testing.B, w *fixture, stations int) {
	b.Helper()
	var ours, bare []float64
	for range 5 {
		w.rollup(b, w.live, hour.Add(-time.Hour))
		began := time.Now()
		if err := w.service.Refresh(b.Context(), schema.Live); err != nil {
			b.Fatal(err)
		}
		ours = append(ours, time.Since(began).Seconds()*1e3)
		began = time.Now()
		for _, table := range [...]string{"station", "station_hour"} {
			if n := drain(b, w, "SELECT * FROM "+w.live+"."+table+" FINAL"); n != stations {
				b.Fatalf("%s has %d rows", table, n)
			}
		}
		bare = append(bare, time.Since(began).Seconds()*1e3)
	}
	b.ReportMetric(median(ours), "ms/refresh")
	b.ReportMetric(median(bare), "ms/floor")
	b.ReportMetric(median(ours)/median(bare), "x-floor")
}

// drain reads all rows of a query and returns their number.
func drain(b *testing.B, w *fixture, query string) (n int) {
	b.Helper()
	rows, err := w.conn.Query(b.Context(), query)
	if err != nil {
		b.Fatal(err)
	}
	for rows.Next() {
		n++
	}
	if err := rows.Err(); err != nil {
		b.Fatal(err)
	}
	return n
}

// BenchmarkScaleSaturated measures the requests a second of 32 connections with all
// cities of India, against a bare mux. The clients run on the same machine.
func BenchmarkScaleSaturated(b *testing.B) {
	w := countryFixture(b, 300, 600, 1)
	for _, q := range commonQueries(300) {
		b.Run(q.name, func(b *testing.B) {
			bareURL := floor(b, "/v1/aqi", body(b, w, q.path))
			var ours, bare, used []float64
			for range 5 {
				rate, cpu := saturate(b, w.url, w.key, q.path)
				ours, used = append(ours, rate), append(used, cpu)
				rate, _ = saturate(b, bareURL, w.key, q.path)
				bare = append(bare, rate)
			}
			b.ReportMetric(median(ours), "req/s")
			b.ReportMetric(median(bare), "floor/s")
			b.ReportMetric(median(ours)/median(bare), "ratio")
			b.ReportMetric(median(used), "cpu-µs/req") // the client's and the server's
		})
	}
}

// saturate sends requests without pause for a second. It returns the requests per
// second and the CPU time per request.
func saturate(b *testing.B, base, key, path string) (rate, cpu float64) {
	b.Helper()
	const connections = 32
	var mu sync.Mutex
	var asking sync.WaitGroup
	total, before, began := 0, testfixture.ProcessorTime(), time.Now()
	for range connections {
		c := newClient(b, base, key, path)
		asking.Go(func() {
			n := 0
			for time.Since(began) < time.Second {
				c.roundTrip(b)
				n++
			}
			mu.Lock()
			defer mu.Unlock()
			total += n
		})
	}
	asking.Wait()
	return float64(total) / time.Since(began).Seconds(), float64((testfixture.ProcessorTime() - before).Microseconds()) / float64(total)
}

// BenchmarkScaleHandler measures the CPU time of the handler chain per request,
// without a socket and a client.
func BenchmarkScaleHandler(b *testing.B) {
	w := countryFixture(b, 300, 600, 1)
	h := w.routes(b, httpapitest.Keys{liveKey, sandboxKey})
	for _, q := range commonQueries(300) {
		b.Run(q.name, func(b *testing.B) {
			r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, q.path, http.NoBody)
			if err != nil {
				b.Fatal(err)
			}
			r.Header.Set("Authorization", "Bearer "+liveKey)
			sink := &discard{header: http.Header{}}
			const round = 2000
			h.ServeHTTP(sink, r) // the first query for a city loads its days
			before := testfixture.ProcessorTime()
			for range round {
				clear(sink.header)
				h.ServeHTTP(sink, r)
			}
			b.ReportMetric(float64((testfixture.ProcessorTime()-before).Nanoseconds())/round, "cpu-ns/handled")
		})
	}
}
