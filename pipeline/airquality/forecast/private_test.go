package forecast

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/schema"
)

// stationDays stores days of a station up to a last day. Its concentrations are a multiple of the usual ones.
func (w *fixture) stationDays(id string, last schema.Day, days int, times float64) {
	w.Helper()
	batch, err := w.db.Conn().PrepareBatch(w.Context(), "INSERT INTO "+w.name+".station_hour (station, at, aqi, pm25, pm10, no2)")
	if err != nil {
		w.Fatal(err)
	}
	defer func() { _ = batch.Close() }()
	for age := range schema.Day(days) {
		v := times * (60 + 30*float64((int(last-age)*5)%13)/13)
		if err := batch.Append(id, (last - age).End(), uint16(100), v, v, v); err != nil {
			w.Fatal(err)
		}
	}
	if err := batch.Send(); err != nil {
		w.Fatal(err)
	}
}

// rowsOf returns the rows of a run in a table, without the run.
func (w *fixture) rowsOf(table, run, condition string) string {
	w.Helper()
	return strings.Join(w.text("SELECT formatRow('CSV', * EXCEPT('^(run|stored_at)$')) AS line FROM %s."+table+" WHERE run = '"+run+"' AND "+condition+" ORDER BY line"), "")
}

// TestPrivateStationsStayOut: a station of an account has rows of station_hour, and none of station.
func TestPrivateStationsStayOut(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	base := day(t, "2026-03-10")
	w.run("INSERT INTO %s.station (id, name, city, state, kind) VALUES ('public', 'p', 'Pune', '', 'reference'), ('cheap', 'c', 'Pune', '', 'sensor')")
	w.usualDays("Pune", base, 600)
	w.stationDays("public", base, 600, 1)
	w.forecastOf("before", base, 600)
	w.stationDays("private", base, 600, 7)
	w.forecastOf("private", base, 600)
	for _, table := range []string{"forecast", "forecast_fit", "forecast_residual"} {
		before := w.rowsOf(table, "before", "1")
		if before == "" {
			t.Fatalf("%s has no rows of the public places", table)
		}
		if diff := cmp.Diff(before, w.rowsOf(table, "private", "1")); diff != "" {
			t.Errorf("a private station changed %s (-before +after):\n%.1000s", table, diff)
		}
	}
	w.stationDays("cheap", base, 600, 3)
	w.forecastOf("sensor", base, 600)
	if diff := cmp.Diff(w.rowsOf("forecast_fit", "before", "1"), w.rowsOf("forecast_fit", "sensor", "1")); diff != "" {
		t.Errorf("a sensor changed the weights of all (-before +after):\n%.1000s", diff)
	}
	if diff := cmp.Diff(w.rowsOf("forecast_residual", "before", "place_kind = 'all'"), w.rowsOf("forecast_residual", "sensor", "place_kind = 'all'")); diff != "" {
		t.Errorf("a sensor changed the pooled residuals (-before +after):\n%.1000s", diff)
	}
	if w.rowsOf("forecast", "sensor", "place = 'cheap' AND horizon = 2") == "" {
		t.Error("the public sensor has no forecast of its own")
	}
}
