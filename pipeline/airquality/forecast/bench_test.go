package forecast

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkForecast fits 10 years of 300 cities and 6 pollutants, and issues the forecasts of one day.
func BenchmarkForecast(b *testing.B) {
	w := newFixture(b)
	first, base := day(b, "2014-01-01"), day(b, "2023-12-31")
	days := int(base-first) + 1
	for city := range 300 {
		w.run(fmt.Sprintf(`INSERT INTO %%[1]s.city_day (city, state, day, at, aqi, pm25, pm10, no2, so2, co, o3)
			SELECT 'city-%d', '', toDate('2014-01-01') + number AS d, toDateTime(d, 'UTC') - 19800 + 86400, 120,
				60 * exp(cos(2 * pi() * number / 365.25) + (cityHash64(number, %d, 1) %%%% 1000 - 500) / 1500) AS base, base * 1.8, base / 2, base / 5, base / 50, 40 + base / 10
			FROM numbers(%d)`, city, city, days))
	}
	known := atMidnight(base)
	for b.Loop() {
		begin := time.Now()
		if err := w.prepare(b.Context(), "bench", fitSpan(base), false); err != nil {
			b.Fatal(err)
		}
		if err := w.fit(b.Context(), "bench", "bench", fitSpan(base), known); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(time.Since(begin).Seconds(), "s/fit")
		begin = time.Now()
		if err := w.prepare(b.Context(), "issue", Span{base - recentDays, base}, false); err != nil {
			b.Fatal(err)
		}
		rows, err := w.issue(b.Context(), "bench", "issue", base, known, known)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(time.Since(begin).Seconds(), "s/issue")
		b.ReportMetric(float64(rows), "forecasts")
	}
}
