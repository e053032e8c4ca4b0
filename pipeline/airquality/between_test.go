package airquality

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/schema"
)

// A network that is large enough for ranges of ids has the same rows as with lists of names. Other stations have ids
// between those of the network, and one of them counts in the AQI of its city.
func TestRangeOfStationsEqualsTheirNames(t *testing.T) {
	t.Parallel()
	end := schema.HourEnd(time.Now()).Add(-time.Hour)
	var all [2]map[string]string
	for i, between := range []bool{false, true} {
		w := newFixture(t)
		w.exec(`INSERT INTO %s.station (id, name, city, state, kind) SELECT 'net-' || leftPad(toString(number), 4, '0'), 'sensor', 'Pune', 'Maharashtra', 'sensor' FROM numbers(?)`, minBetween)
		w.station("net-2000-board", "Pune", "Maharashtra")
		for _, parameter := range []string{"pm25", "pm10", "no2"} {
			w.exec(`INSERT INTO %s.reading (station, parameter, at, value, kind, averaging, source)
				SELECT 'net-' || leftPad(toString(number), 4, '0'), ?, ?, number %% 2000, 'concentration', 1, 'net' FROM numbers(?)`, parameter, end, minBetween)
			w.exec(`INSERT INTO %s.reading (station, parameter, at, value, kind, averaging, source)
				SELECT 'net-2000-board', ?, ?::DateTime('UTC') - toIntervalHour(number), 50 + number, 'concentration', 60, 'board' FROM numbers(24)`, parameter, end)
		}
		p, err := w.rollup.planSince(t.Context(), time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if n := len(p.chunks); n == 0 || !p.chunks[n-1].between {
			t.Fatalf("got %d chunks, of which the last has no range, want a range", n)
		}
		for c := range p.chunks {
			p.chunks[c].between = p.chunks[c].between && between
		}
		if p.chunks, err = w.rollup.testIncrement(t.Context(), p, end); err != nil {
			t.Fatal(err)
		}
		for _, c := range p.chunks {
			if err := w.rollup.compute(t.Context(), c, end); err != nil {
				t.Fatal(err)
			}
		}
		all[i] = w.digests()
	}
	if diff := cmp.Diff(all[0], all[1]); diff != "" {
		t.Errorf("the tables differ (-names +range):\n%s", diff)
	}
}

// digests returns the number of rows of each computed table and a checksum of their figures.
func (w *fixture) digests() map[string]string {
	w.Helper()
	out := make(map[string]string)
	for table, columns := range map[string]string{
		"reading_quality":        "station, parameter, at, test, flag, detail",
		"station_parameter_hour": "station, parameter, at, mean, count, suspect, excluded, flag, updated",
		"station_parameter_day":  "station, parameter, day, mean, count, hours",
		"station_hour":           "station, at, pm25, pm10, no2, aqi, updated",
		"city_hour":              "city, at, pm25, aqi, stations_used, stations_total",
		"city_day":               "city, day, pm25, aqi",
	} {
		var rows, sum uint64
		query := fmt.Sprintf("SELECT count(), sum(cityHash64(tuple(%s))) FROM %s.%s FINAL", columns, w.name, table)
		if err := w.db.Conn().QueryRow(w.Context(), query).Scan(&rows, &sum); err != nil {
			w.Fatal(err)
		}
		if rows == 0 {
			w.Errorf("the table %s is empty", table)
		}
		out[table] = fmt.Sprint(rows, " ", sum)
	}
	return out
}
