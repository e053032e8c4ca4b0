package quality_test

import (
	"fmt"
	"testing"
	"time"

	"vayu/pipeline/airquality/quality"
)

// BenchmarkOneHour tests one more hour of 10,000 stations with 8 parameters,
// behind 31 hours of readings.
func BenchmarkOneHour(b *testing.B) {
	w := newFixture(b, quality.Settings{})
	const hours = 32
	w.exec(fmt.Sprintf(`INSERT INTO %%s.reading (station, parameter, at, value, kind, averaging, source)
		SELECT concat('cpcb-station-', leftPad(toString(number %%%% 10000), 5, '0')), ['pm25', 'pm10', 'no2', 'so2', 'co', 'o3', 'no', 'nox'][1 + intDiv(number, 10000) %%%% 8],
			toDateTime(%d, 'UTC') + 3600 * intDiv(number, 80000), round(40 + 20 * sin(number %%%% 24) + rand(1) %%%% 20, 2), 'concentration', 60, 'bench'
		FROM numbers(80000 * %d)`, start.Unix(), hours))
	w.exec(`INSERT INTO %s.station (id, kind, latitude, longitude)
		SELECT concat('cpcb-station-', leftPad(toString(number), 5, '0')), 'reference', 8 + number %% 100 * 0.25, 70 + intDiv(number, 100) * 0.2 FROM numbers(10000)`)
	stations := make([]string, 10_000)
	for i := range stations {
		stations[i] = fmt.Sprintf("cpcb-station-%05d", i)
	}
	last := start.Add((hours - 1) * time.Hour)
	for b.Loop() {
		w.run(last, last, stations...)
	}
}
