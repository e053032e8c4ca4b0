package airquality

import (
	"fmt"
	"testing"
	"time"

	"vayu/schema"
)

// sensors stores minutes of readings of sensors up to an instant, and returns their
// number. Each sensor measures three pollutants in turn, one a minute.
func (w *fixture) sensors(to time.Time, minutes, sensors int, stored string) (readings int) {
	w.Helper()
	w.exec(`INSERT INTO %s.reading (station, parameter, at, value, kind, averaging, source, ingested_at)
		SELECT 'station-' || toString(intDiv(number, ?)) AS station, ['pm25', 'pm10', 'no2'][1 + number %% 3],
			?::DateTime('UTC') - toIntervalMinute(number %% ?) AS at, round(60 + 40 * sin(2 * pi() * (toUnixTimestamp(at) %% 86400) / 86400 + cityHash64(station) %% 7) + (cityHash64(number) %% 400) / 100, 2), 'concentration', 1, 'synthetic', now64(3) - INTERVAL `+stored+`
		FROM numbers(?)`, minutes, to.Format(time.DateTime), minutes, minutes*sensors)
	return minutes * sensors
}

// BenchmarkScaleRollup measures an increment of one hour, and then of one minute,
// of so many sensors with a day of readings. A pass has up to 2,000 sensors; a day
// of 100,000 sensors is 144 million readings. The floor is one rolling mean over
// the stored readings.
func BenchmarkScaleRollup(b *testing.B) {
	for _, stations := range [...]int{100, 1_000, 10_000} {
		b.Run(fmt.Sprintf("stations=%d", stations), func(b *testing.B) {
			for b.Loop() {
				benchSensors(b, stations)
			}
		})
	}
}

// figuresOnly computes new figures without the tests that follow.
func (w *fixture) figuresOnly() Result {
	w.Helper()
	result, err := w.rollup.Increment(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	return result
}

func benchSensors(b *testing.B, stations int) {
	b.Helper()
	w := newFixture(b)
	w.exec(`INSERT INTO %s.station (id, name, city, state, kind)
		SELECT 'station-' || toString(number), 'station', 'city-' || toString(number %% 300), 'state', 'sensor' FROM numbers(?)`, stations)
	end := schema.HourEnd(time.Now()).Add(-time.Hour) // the last complete hour
	readings := w.sensors(end.Add(-time.Hour), 23*60, stations, "1 HOUR")
	w.exec("INSERT INTO %s.rollup (started, hours_from, hours_to, stations) VALUES (now64(3) - INTERVAL 5 MINUTE, now(), now(), 0)")
	readings += w.sensors(end, 60, stations, "2 MINUTE")

	begun := time.Now()
	w.exec(`SELECT sum(mean) FROM (SELECT avg(value) OVER (PARTITION BY station, parameter ORDER BY at
		RANGE BETWEEN 82800 PRECEDING AND CURRENT ROW) AS mean FROM %s.reading) FORMAT Null`)
	floor := time.Since(begun).Seconds()
	hour := w.figuresOnly()
	if hour.Stations != stations {
		b.Fatalf("the hour is of %d stations, want %d", hour.Stations, stations)
	}
	b.ReportMetric(hour.Elapsed.Seconds(), "s/hour")
	b.ReportMetric(hour.Elapsed.Seconds()/floor, "x-rolling-mean")
	b.ReportMetric(float64(readings)/hour.Elapsed.Seconds(), "window-readings/s")
	b.ReportMetric(w.peakMemory()/1e9, "GB-peak")

	tests, err := w.rollup.TestSeries(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(tests.Elapsed.Seconds(), "s/tests-of-the-hour")

	// The next minute. The lookback of a minute does not reach the hour before it.
	w.exec("TRUNCATE TABLE %s.rollup")
	w.exec("INSERT INTO %s.rollup (started, hours_from, hours_to, stations) VALUES (now64(3), now(), now(), 0)")
	w.sensors(end.Add(time.Minute), 1, stations, "0 SECOND")
	minute := w.figuresOnly()
	b.ReportMetric(minute.Elapsed.Seconds(), "s/minute")
	b.ReportMetric(minute.Elapsed.Seconds()/floor, "x-rolling-mean/minute")
}
