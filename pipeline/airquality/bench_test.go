package airquality

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// synthetic stores hourly readings of 7 pollutants at some stations.
func (w *fixture) synthetic(from time.Time, hours, stations int) (readings int) {
	w.Helper()
	w.exec(`INSERT INTO %s.station (id, name, city, state, kind)
		SELECT 'station-' || toString(number), 'station', 'city-' || toString(number %% 250), 'state', 'reference' FROM numbers(?)`, stations)
	const month = 31 * 24
	hourly := 7 * stations
	for start := 0; start < hours; start += month {
		n := min(month, hours-start)
		w.exec(`INSERT INTO %s.reading (station, parameter, at, value, kind, averaging, source, ingested_at)
			SELECT 'station-' || toString(intDiv(number, 7) %% ?), ['pm25', 'pm10', 'no2', 'so2', 'co', 'o3', 'nh3'][1 + number %% 7],
				?::DateTime('UTC') + toIntervalHour(intDiv(number, ?)), round(60 + 40 * sin(2 * pi() * (intDiv(number, ?) %% 24) / 24 + intDiv(number, 7) %% 5) + (cityHash64(number) %% 1000) / 100, 2), 'concentration', 60, 'synthetic', now64(3) - INTERVAL 1 HOUR
			FROM numbers(?)`, stations, from.Add(time.Duration(start)*time.Hour).Format(time.DateTime), hourly, hourly, n*hourly)
	}
	return hours * hourly
}

// peakMemory returns the engine's largest resident set so far, in bytes.
func (w *fixture) peakMemory() float64 {
	w.Helper()
	holder, ok := w.db.Holder()
	if !ok {
		return 0
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", holder.PID))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kilobytes, _ := strconv.Atoi(strings.Fields(rest)[0])
			return float64(kilobytes) * 1024
		}
	}
	return 0
}

// BenchmarkRollup computes a year of 600 stations and 7 pollutants, 36.8 million
// readings. The floor is one rolling mean over the same readings.
func BenchmarkRollup(b *testing.B) {
	w := newFixture(b)
	from := time.Date(2024, 1, 1, 0, 30, 0, 0, time.UTC)
	readings := w.synthetic(from, 8760, 600)
	for b.Loop() {
		w.exec("TRUNCATE TABLE %s.rollup")
		begin := time.Now()
		w.exec(`SELECT sum(mean) FROM (SELECT avg(value) OVER (PARTITION BY station, parameter ORDER BY at
			RANGE BETWEEN 82800 PRECEDING AND CURRENT ROW) AS mean FROM %s.reading) FORMAT Null`)
		floor := time.Since(begin)
		result := w.increment()
		figures := (result.Elapsed - result.Tests).Seconds()
		b.ReportMetric(figures, "s/year")
		b.ReportMetric(result.Tests.Seconds(), "s/tests-of-the-year")
		b.ReportMetric(float64(readings)/figures, "readings/s")
		b.ReportMetric(figures/floor.Seconds(), "x-rolling-mean")
		b.ReportMetric(w.peakMemory()/1e9, "GB-peak")

		// One more hour of every station; the year was stored an hour ago.
		w.exec(`INSERT INTO %s.reading (station, parameter, at, value, kind, averaging, source)
			SELECT station, parameter, ?::DateTime('UTC'), 50, 'concentration', 60, 'synthetic'
			FROM (SELECT DISTINCT station, parameter FROM %[1]s.reading)`, from.Add(8760*time.Hour).Format(time.DateTime))
		w.exec("TRUNCATE TABLE %s.rollup")
		w.exec("INSERT INTO %s.rollup (started, hours_from, hours_to, stations) SELECT now64(3) - INTERVAL 5 MINUTE, now(), now(), 0")
		hour := w.increment()
		b.ReportMetric(hour.Elapsed.Seconds(), "s/hour-increment")
		b.ReportMetric(float64(hour.Stations), "stations/hour")
	}
}

// BenchmarkRollupGrowth computes one year and then four years of 150 stations:
// the time per reading must stay the same.
func BenchmarkRollupGrowth(b *testing.B) {
	from := time.Date(2021, 1, 1, 0, 30, 0, 0, time.UTC)
	for b.Loop() {
		var perReading [2]float64
		for i, years := range []int{1, 4} {
			w := newFixture(b)
			readings := w.synthetic(from, years*8766, 150)
			perReading[i] = w.increment().Elapsed.Seconds() / float64(readings)
		}
		b.ReportMetric(perReading[1]/perReading[0], "x-time-per-reading-4y/1y")
	}
}
