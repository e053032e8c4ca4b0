package airquality

import (
	"strings"
	"testing"
	"time"

	"vayu/schema/views"
)

// viewQueries read a whole view, as an analyst would to compare all of India.
var viewQueries = map[string]string{
	"standard":           "SELECT * FROM %s.standard",
	"openair":            "SELECT avg(pm25), max(date) FROM %s.openair",
	"openair of a city":  "SELECT * FROM %s.openair WHERE city = 'city-7' AND date >= '2024-01-01'",
	"daily":              "SELECT city, avg(mean) FROM %s.daily WHERE valid GROUP BY city",
	"data_capture":       "SELECT * FROM %s.data_capture",
	"monthly_statistics": "SELECT * FROM %s.monthly_statistics",
	"annual_statistics":  "SELECT * FROM %s.annual_statistics",
	"season":             "SELECT * FROM %s.season",
	"diurnal":            "SELECT * FROM %s.diurnal",
	"weekday":            "SELECT * FROM %s.weekday",
	"exceedance":         "SELECT * FROM %s.exceedance",
	"ranking":            "SELECT * FROM %s.ranking",
	"trend":              "SELECT * FROM %s.trend",
}

// BenchmarkScaleViews reads each view over ten years of 600 stations: 36.8 million station-hours,
// 70 % of all hours. The floor is the mean of these hours as the table of hours has them. Each figure is
// that of the second read, so that the files are in memory. Processor time does not depend on other
// processes as much as wall time: half of it is the wall time of two idle processors.
func BenchmarkScaleViews(b *testing.B) {
	w := newFixture(b)
	w.exec(`INSERT INTO %s.station (id, name, city, state, kind)
		SELECT 'station-' || toString(number), 'station', 'city-' || toString(number %% 200), 'state', 'reference' FROM numbers(600)`)
	w.exec(`INSERT INTO %s.station_parameter_day (station, parameter, day, mean, minimum, maximum, count, expected, flag, updated, hours, present, max_8h)
		WITH arrayMap(h -> if(cityHash64(number, h) %% 10 < 7, round(60 + 40 * sin(2 * pi() * (number %% 3653) / 365.25) + 20 * sin(2 * pi() * h / 24) + (cityHash64(h, number) %% 4000) / 100, 2), NULL), range(24)) AS clock,
			arrayMap(x -> assumeNotNull(x), arrayFilter(x -> isNotNull(x), clock)) AS present
		SELECT 'station-' || toString(intDiv(number, 3653)), 'pm25', toDate('2015-01-01') + number %% 3653 AS day, arrayAvg(present), arrayMin(present), arrayMax(present),
			length(present), 24, 'good', toDateTime(day), present, arraySum(arrayMap((x, n) -> if(isNull(x), 0, bitShiftLeft(toUInt32(1), n)), clock, range(24))), arrayMax(present)
		FROM numbers(600 * 3653) SETTINGS max_partitions_per_insert_block = 0`)
	w.exec(`INSERT INTO %[1]s.station_parameter_hour (station, at, parameter, kind, mean)
		SELECT station, toDateTime(day, 'Asia/Kolkata') + 3600 * (clock + 1), parameter, 'concentration', mean_of_hour
		FROM %[1]s.station_parameter_day ARRAY JOIN hours AS mean_of_hour, bitPositionsToArray(present) AS clock SETTINGS max_partitions_per_insert_block = 0`)
	w.exec("OPTIMIZE TABLE %s.station_parameter_day FINAL")
	if rows := w.text("SELECT toString(sum(count)) FROM %s.station_parameter_day"); len(rows) != 1 || len(rows[0]) != 8 {
		b.Fatalf("there are %q station-hours", rows)
	}
	read := func(query string) (wall, processor float64) {
		w.exec(query + " FORMAT Null")
		before, begun := w.processorSeconds(), time.Now()
		w.exec(query + " FORMAT Null")
		return time.Since(begun).Seconds(), w.processorSeconds() - before
	}
	for range b.N {
		_, floor := read("SELECT avg(mean) FROM %s.station_parameter_hour SETTINGS final = 0")
		b.ReportMetric(floor, "cpu-s/floor")
		for name, query := range viewQueries {
			wall, processor := read(query)
			b.Logf("%-20s %.2f s, %.2f s of processor time, %.1f of the floor of %.2f s", name, wall, processor, processor/floor, floor)
			b.ReportMetric(processor, "cpu-s/"+strings.ReplaceAll(name, " ", "-"))
		}
	}
	if len(viewQueries) <= len(views.Names) {
		b.Error("a view is not measured")
	}
}

// processorSeconds returns the processor time that the engine has used for queries.
func (w *fixture) processorSeconds() float64 {
	w.Helper()
	var micros uint64
	if err := w.db.Conn().QueryRow(w.Context(), "SELECT sum(value) FROM system.events WHERE event IN ('UserTimeMicroseconds', 'SystemTimeMicroseconds')").Scan(&micros); err != nil {
		w.Fatal(err)
	}
	return float64(micros) / 1e6
}
