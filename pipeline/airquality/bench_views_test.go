package airquality

import (
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
// 70 % of all hours. The floor is one read of the days that all views rest on. Each figure is the
// second read, so that the files are in memory.
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
	w.exec("OPTIMIZE TABLE %s.station_parameter_day FINAL")
	if rows := w.text("SELECT toString(sum(count)) FROM %s.station_parameter_day"); len(rows) != 1 || len(rows[0]) != 8 {
		b.Fatalf("there are %q station-hours", rows)
	}
	read := func(query string) time.Duration {
		w.exec(query + " FORMAT Null")
		begun := time.Now()
		w.exec(query + " FORMAT Null")
		return time.Since(begun)
	}
	for range b.N {
		floor := read("SELECT avgArray(hours), max(day) FROM %s.station_parameter_day SETTINGS final = 0")
		b.ReportMetric(floor.Seconds(), "s/floor")
		for name, query := range viewQueries {
			took := read(query)
			b.Logf("%-20s %.2f s, %.1f of the floor of %.2f s", name, took.Seconds(), took.Seconds()/floor.Seconds(), floor.Seconds())
			b.ReportMetric(took.Seconds(), "s/"+unit(name))
		}
	}
	if len(viewQueries) <= len(views.Names) {
		b.Error("a view is not measured")
	}
}

// unit returns a name that can be a unit of a metric, which has no blanks.
func unit(name string) string {
	out := []byte(name)
	for i, c := range out {
		if c == ' ' {
			out[i] = '-'
		}
	}
	return string(out)
}
