package forecast

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/schema"
)

// forecastRows are all columns of forecasts but the run and the time of storage.
const forecastRows = "SELECT formatRow('CSV', * EXCEPT (run, stored_at)) FROM %s.forecast FINAL WHERE run = '"

func (w *fixture) replay(r Replay) (run string, score string) {
	w.Helper()
	run, _, err := w.Replay(w.Context(), r)
	if err != nil {
		w.Fatal(err)
	}
	var b strings.Builder
	if err := w.WriteScore(w.Context(), run, &b); err != nil {
		w.Fatal(err)
	}
	return run, b.String()
}

// TestReplayIgnoresTheFuture replays days, changes every later day, and replays them again.
func TestReplayIgnoresTheFuture(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.cityDays(archive(t))
	days := Replay{Targets: Span{day(t, "2019-11-01"), day(t, "2019-11-03")}, AsMeasured: true}
	before, _ := w.replay(days)
	// The last issue uses days up to 2 November.
	w.run("INSERT INTO %[1]s.city_day (city, state, day, at, aqi, pm25, pm10, no2, so2, co, o3) SELECT city, state, day, at, 500, 900, 900, 900, 900, 50, 900 FROM %[1]s.city_day WHERE day > '2019-11-02'")
	after, _ := w.replay(days)
	const order = "' ORDER BY place_kind, place, state, parameter, day, horizon, model"
	got := w.text(forecastRows + after + order)
	if len(got) < 1000 {
		t.Fatalf("%d forecasts, want those of 21 cities on three days", len(got))
	}
	if diff := cmp.Diff(w.text(forecastRows+before+order), got); diff != "" {
		t.Errorf("the future changed the replay (-before +after):\n%.2000s", diff)
	}
}

// TestReplayKnowsReadingsFromTheirStorage stores a reading late: a replay forecasts as if it did not exist. Its last hours
// also enter the 8-hour means of the next day.
func TestReplayKnowsReadingsFromTheirStorage(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.run("INSERT INTO %s.station (id, name, city, state, kind) VALUES ('s', 's', 'Pune', '', 'reference')")
	first, last := day(t, "2026-03-01"), day(t, "2026-04-20")
	for d := first; d <= last; d++ {
		v := 40 + 10*float64(d%5)
		w.cityDays([]cityDay{{city: "Pune", day: d, aqi: 70, amounts: [6]*float64{&v, &v, &v}}})
		stored := d.End().Add(time.Hour)
		if d == day(t, "2026-04-10") {
			stored = d.End().Add(36 * time.Hour)
		}
		w.run("INSERT INTO %s.reading (station, parameter, at, value, kind, averaging, source, ingested_at) VALUES ('s', 'pm25', ?, ?, 'concentration', 1440, 'test', ?)", d.End(), v, stored)
	}
	run, _ := w.replay(Replay{Targets: Span{day(t, "2026-04-11"), day(t, "2026-04-13")}})
	got := w.text("SELECT concat(toString(toDate(issued_at)), ' ', model, ' ', reason) FROM %s.forecast FINAL WHERE run = '" + run + "' AND parameter = 'pm25' AND horizon < 2 ORDER BY 1")
	want := []string{"2026-04-10 none no_recent_data", "2026-04-11 none no_recent_data", "2026-04-12 persistence too_little_history"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("forecasts (-want +got):\n%s", diff)
	}
}

// TestCoverageOfTheInterval replays weeks of each season, or without VAYU_TEST_FORECAST, which make forecast-score sets, a
// few days. Four in five observations are within the interval, and what is served is not worse than persistence.
func TestCoverageOfTheInterval(t *testing.T) {
	t.Parallel()
	firsts, days, tolerance := []string{"2019-03-01", "2019-07-01"}, schema.Day(2), "0.06"
	all := os.Getenv("VAYU_TEST_FORECAST") != ""
	if all {
		firsts, days, tolerance = []string{"2018-12-01", "2019-03-01", "2019-07-01", "2019-10-10"}, 21, "0.03"
	}
	w := newFixture(t)
	w.cityDays(archive(t))
	for _, first := range firsts {
		_, score := w.replay(Replay{Targets: Span{day(t, first), day(t, first) + days - 1}, AsMeasured: true})
		t.Logf("from %s\n%s", first, score)
	}
	for _, line := range w.text(`SELECT concat(if(parameter = 'aqi', 'AQI', 'concentrations'), ' in the interval of 80 %%: ', toString(round(100 * avg(covered), 1)), ' of ', toString(count()))
		FROM %s.forecast_outcome WHERE served GROUP BY parameter = 'aqi', if(parameter = 'aqi', 'AQI', 'concentrations') ORDER BY 1`) {
		t.Log(line)
	}
	if got := w.text(`SELECT toString(abs(avg(covered) - 0.8) <= ` + tolerance + `) FROM %s.forecast_outcome WHERE served`); got[0] != "1" {
		t.Errorf("the interval does not cover 80 %% ± %s", tolerance)
	}
	if got := w.text("SELECT toString(avgIf(abs(error), served) <= avgIf(abs(error), model = 'persistence')) FROM %s.forecast_outcome WHERE parameter = 'aqi'"); got[0] != "1" {
		t.Error("the error of the served AQI is larger than that of persistence")
	}
	if !all {
		return
	}
	for _, line := range w.text("SELECT formatRow('TSV', event, horizon, model, sum(hits) AS hit, sum(misses), sum(false_alarms), round(sum(brier * forecasts) / sum(forecasts), 4)) FROM %s.forecast_event WHERE event LIKE 'over%%' GROUP BY event, horizon, model ORDER BY event, horizon, model") {
		t.Log(strings.TrimSpace(line))
	}
}
