package forecast

import (
	"compress/gzip"
	"encoding/csv"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/testing/realdata"
	"vayu/schema"
)

// stationHour is a mean of PM2.5 of an hour.
type stationHour struct {
	station string
	at      time.Time // its end
	value   float64
}

func (w *fixture) stationHours(all []stationHour) {
	w.Helper()
	batch, err := w.db.Conn().PrepareBatch(w.Context(), "INSERT INTO "+w.name+".station_parameter_hour (station, parameter, kind, at, mean, count, expected)")
	if err != nil {
		w.Fatal(err)
	}
	defer func() { _ = batch.Close() }()
	for _, h := range all {
		if err := batch.Append(h.station, "pm25", "concentration", h.at, &h.value, uint16(1), uint16(1)); err != nil {
			w.Fatal(err)
		}
	}
	if err := batch.Send(); err != nil {
		w.Fatal(err)
	}
}

// station stores a public station in a city of its own.
func (w *fixture) station(id string) {
	w.Helper()
	w.run("INSERT INTO %s.station (id, name, city, state, kind) VALUES ('" + id + "', '" + id + "', 'city of " + id + "', '', 'reference')")
}

// quarterHours returns the hourly means of PM2.5 of a station with readings of 15 minutes, up to an Indian day. A
// reading is named by the beginning of its interval.
func quarterHours(t testing.TB, name string, last schema.Day) []stationHour {
	t.Helper()
	file, err := os.Open(realdata.Path(t, "caaqm15/"+name+".csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(unzipped).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	sums := map[time.Time][2]float64{}
	for _, row := range rows[1:] {
		layout := time.DateTime
		if !strings.HasPrefix(row[1], "2020") {
			layout = "02-01-2006 15:04"
		}
		from, err := time.Parse(layout, row[1])
		value, none := strconv.ParseFloat(row[2], 64)
		if err != nil || none != nil {
			continue
		}
		at := from.Truncate(time.Hour).Add(time.Hour - schema.IndiaOffset)
		if !at.After(last.End()) {
			sums[at] = [2]float64{sums[at][0] + value, sums[at][1] + 1}
		}
	}
	all := make([]stationHour, 0, len(sums))
	for at, sum := range sums {
		all = append(all, stationHour{station: name, at: at, value: sum[0] / sum[1]})
	}
	return all
}

// TestHoursOfRealStations issues forecasts in three weeks from hours of real stations, 30 hours apart, so at each time of
// the day. The model beats persistence, and four in five observations are within the interval.
func TestHoursOfRealStations(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	first, last := day(t, "2020-02-18"), day(t, "2020-03-08")
	files, err := filepath.Glob(realdata.Path(t, "caaqm15") + "/*.csv.gz")
	if err != nil || len(files) != 15 {
		t.Fatalf("%d files of stations (%v), want 15", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".csv.gz")
		w.station(name)
		w.stationHours(quarterHours(t, name, last+3))
	}
	var fitted time.Time
	for base := first.Start(); base.Before(last.End()); base = base.Add(5 * hoursEvery) {
		if base.Sub(fitted) > 6*fitHoursEvery {
			fitted = base
			if err := w.fitHours(t.Context(), "r", "fit-"+hourText(base), base, fitted); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := w.issueHours(t.Context(), "r", hourText(base), base, base, fitted); err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range w.text(`SELECT concat(place_kind, ' ', toString(until), ' h, ', name, ': ', toString(count()), ' MAE ', toString(round(avg(abs(error)), 2)), ' covered ', toString(round(100 * avg(covered), 1)))
		FROM (SELECT *, intDiv(horizon + 5, 6) * 6 AS until, arrayJoin(arrayConcat(if(compared, [toString(model)], []), if(served, ['served'], []))) AS name FROM %s.forecast_hour_outcome WHERE horizon <= 48)
		GROUP BY place_kind, until, name ORDER BY place_kind, until, name`) {
		t.Log(line)
	}
	got := w.text(`SELECT toString(avgIf(abs(error), model = 'diurnal_anomaly') < 0.95 * avgIf(abs(error), model = 'persistence')) FROM %s.forecast_hour_outcome WHERE compared AND horizon <= 48`)
	if got[0] != "1" {
		t.Error("the error of the model is not 5 % below that of persistence")
	}
	if got := w.text("SELECT toString(abs(avg(covered) - 0.8) <= 0.03) FROM %s.forecast_hour_outcome WHERE served AND horizon <= 48"); got[0] != "1" {
		t.Error("the interval does not cover 80 ± 3 %")
	}
	if bad := w.text("SELECT formatRow('CSV', *) FROM %s.forecast_hour FINAL WHERE horizon > 0 AND NOT (0 < p10 AND p10 <= p50 AND p50 <= p90) LIMIT 3"); len(bad) > 0 {
		t.Errorf("percentiles are not in order: %v", bad)
	}
	if got := w.text("SELECT toString(max(n)) FROM (SELECT sum(served) AS n FROM %s.forecast_hour FINAL WHERE horizon > 0 GROUP BY place_kind, place, base, horizon)"); got[0] != "1" {
		t.Errorf("%s models served for one hour, want 1", got[0])
	}
}

// hoursOf returns hours up to a last one, whose values change from hour to hour.
func hoursOf(station string, last time.Time, hours int) []stationHour {
	all := make([]stationHour, 0, hours)
	for age := range hours {
		all = append(all, stationHour{station: station, at: last.Add(-time.Duration(age) * time.Hour), value: 60 + 30*float64((age*7)%11)/11})
	}
	return all
}

// TestHoursAreDueEverySixHours: a base has one issue, and waits for stations that are late.
func TestHoursAreDueEverySixHours(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	base := day(t, "2026-03-10").Start().Add(6 * time.Hour)
	for _, id := range []string{"a", "b", "c"} {
		w.station(id)
		w.stationHours(hoursOf(id, base.Add(-time.Hour), 500))
	}
	w.stationHours(hoursOf("a", base, 1))
	due := func(what string, now time.Time, want bool) {
		t.Helper()
		got, err := w.dueHours(t.Context(), now)
		if err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("%s: issued %t, want %t", what, got, want)
		}
	}
	due("one station of three has the base", base.Add(hoursDelay), false)
	w.stationHours(hoursOf("b", base, 1))
	due("two stations have it", base.Add(hoursDelay+time.Minute), true)
	due("again", base.Add(hoursDelay+time.Hour), false)
	due("without later data", base.Add(hoursEvery+hoursDelay+hoursPatience+time.Hour), false)
	w.stationHours(hoursOf("a", base.Add(hoursEvery), 6))
	due("one station of three, late", base.Add(hoursEvery+hoursDelay+hoursPatience+time.Minute), true)
	got := w.text("SELECT concat(toString(count()), ' issues, ', toString(uniqExact(fitted_at)), ' fit, ', toString(max(forecasts)), ' and ', toString(min(forecasts))) FROM %s.forecast_hour_issue FINAL WHERE run = ''")
	// Three stations and their cities, 60 hours, two models. Without the last hours, two of them have persistence only.
	if diff := cmp.Diff([]string{"2 issues, 1 fit, 720 and 480"}, got); diff != "" {
		t.Errorf("issues (-want +got):\n%s", diff)
	}
}

// TestHoursAreFittedAfterARestore: an archive has the issues, and not the fits that they used.
func TestHoursAreFittedAfterARestore(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	base := day(t, "2026-03-10").Start()
	w.station("a")
	w.stationHours(hoursOf("a", base.Add(hoursEvery), 500))
	w.run("INSERT INTO %s.forecast_hour_issue (run, base, issued_at, fitted_at, forecasts) VALUES ('', '" + hourText(base) + "', '" + hourText(base.Add(hoursDelay)) + "', '" + hourText(base) + "', 240)")
	if issued, err := w.dueHours(t.Context(), base.Add(hoursEvery+hoursDelay)); err != nil || !issued {
		t.Fatalf("issued %t, %v", issued, err)
	}
	got := w.text("SELECT concat(toString(max(forecasts)), ' forecasts, ', toString(max(fitted_at))) FROM %s.forecast_hour_issue FINAL WHERE base = '" + hourText(base.Add(hoursEvery)) + "'")
	if diff := cmp.Diff([]string{"240 forecasts, " + hourText(base.Add(hoursEvery+hoursDelay)) + ".000"}, got); diff != "" {
		t.Errorf("issues (-want +got):\n%s", diff)
	}
}

// TestNoHoursRatherThanWrongOnes gives stations the faults that real series have, and a station of an account.
func TestNoHoursRatherThanWrongOnes(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	base := day(t, "2026-03-10").Start()
	for _, id := range []string{"usual", "late", "ended", "constant", "new", "zero"} {
		w.station(id)
	}
	w.stationHours(hoursOf("usual", base, 1000))
	w.stationHours(hoursOf("late", base.Add(-2*time.Hour), 1000))
	w.stationHours(hoursOf("ended", base.Add(-20*time.Hour), 1000))
	w.stationHours(hoursOf("new", base, 40))
	w.stationHours(hoursOf("private", base, 1000))
	constant := hoursOf("constant", base, 1000)
	zero := hoursOf("zero", base, 1000)
	for i := range 30 {
		constant[i].value, zero[i].value = 55, 0
	}
	w.stationHours(constant)
	w.stationHours(zero)
	if err := w.fitHours(t.Context(), "r", "fit", base, base); err != nil {
		t.Fatal(err)
	}
	if _, err := w.issueHours(t.Context(), "r", "issue", base, base, base); err != nil {
		t.Fatal(err)
	}
	got := w.text("SELECT concat(place, ': ', if(max(horizon) = 0, any(reason), toString(uniqExact(horizon)))) FROM %s.forecast_hour FINAL WHERE place_kind = 'station' GROUP BY place ORDER BY place")
	want := []string{"constant: constant_series", "ended: no_recent_data", "late: 60", "new: 60", "usual: 60", "zero: no_recent_data"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("forecasts (-want +got):\n%s", diff)
	}
	if got := w.text("SELECT DISTINCT concat(model, ' ', reason) FROM %s.forecast_hour FINAL WHERE place = 'new' AND served"); strings.Join(got, ", ") != "persistence too_little_history" {
		t.Errorf("a new station: %v, want persistence", got)
	}
	// A later value of an hour that was used changes no forecast, nor does a second issue.
	const rows = "SELECT formatRow('CSV', *) AS line FROM %s.forecast_hour FINAL ORDER BY line"
	before := w.text(rows)
	w.run("ALTER TABLE %s.forecast_hour_issue DELETE WHERE 1 SETTINGS mutations_sync = 1")
	w.stationHours([]stationHour{{"usual", base, 400}})
	if _, err := w.issueHours(t.Context(), "r", "again", base, base.Add(time.Minute), base); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, w.text(rows)); diff != "" {
		t.Errorf("forecasts that changed (-before +after):\n%.2000s", diff)
	}
}

// TestHoursIgnoreTheFuture changes every hour after a base.
func TestHoursIgnoreTheFuture(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	base := day(t, "2026-03-10").Start()
	w.station("a")
	w.stationHours(hoursOf("a", base, 1000))
	const rows = "SELECT formatRow('CSV', * EXCEPT run) AS line FROM %s.forecast_hour FINAL WHERE run = '"
	var all [2][]string
	for i, run := range []string{"before", "after"} {
		if err := w.fitHours(t.Context(), run, run+"-fit", base, base); err != nil {
			t.Fatal(err)
		}
		if _, err := w.issueHours(t.Context(), run, run, base, base, base); err != nil {
			t.Fatal(err)
		}
		all[i] = w.text(rows + run + "' ORDER BY line")
		w.stationHours(hoursOf("a", base.Add(100*time.Hour), 100))
	}
	if len(all[0]) != 240 {
		t.Errorf("%d forecasts, want 240", len(all[0]))
	}
	if diff := cmp.Diff(all[0], all[1]); diff != "" {
		t.Errorf("the future changed forecasts (-before +after):\n%.2000s", diff)
	}
}
