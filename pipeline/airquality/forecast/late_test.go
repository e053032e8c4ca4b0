package forecast

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestDueCountsCompletePlaces: all places have rows of the day, with several versions, and none has its evening.
func TestDueCountsCompletePlaces(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	base := day(t, "2026-03-10")
	for _, city := range []string{"Pune", "Nashik", "Nagpur"} {
		w.usualDays(city, base-1, 20)
		for hour := 1; hour <= 4; hour++ {
			w.run("INSERT INTO %s.city_day (city, state, day, at, aqi, pm25) VALUES (?, '', ?, ?, 100, 60)", city, dayText(base), base.Start().Add(time.Duration(hour)*time.Hour))
		}
	}
	w.stationDays("private", base, 20, 1)
	if w.due(issueTime(base).Add(time.Second)) {
		t.Error("issued although no city has its evening, want to wait")
	}
	w.usualDays("Pune", base, 1)
	w.usualDays("Nashik", base, 1)
	if !w.due(issueTime(base).Add(time.Minute)) {
		t.Error("nothing issued for two complete cities of three")
	}
}

// TestLatePlacesAreIssuedLater gives the day of a city after the issue. Other forecasts stay as they are.
func TestLatePlacesAreIssuedLater(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	base := day(t, "2026-03-10")
	w.usualDays("Pune", base, 60)
	w.usualDays("Nashik", base-1, 60)
	now := issueTime(base).Add(time.Second)
	if !w.due(now) {
		t.Fatal("no issue")
	}
	const ofPune = "SELECT formatRow('CSV', *) AS line FROM %s.forecast FINAL WHERE place = 'Pune' ORDER BY line"
	first := w.text(ofPune)
	if w.due(now.Add(lateEvery)) {
		t.Error("issued again although no place came")
	}
	w.usualDays("Nashik", base, 1)
	w.usualDays("Pune", base, 1) // a new version of a day that was used
	if w.due(now.Add(lateEvery - time.Second)) {
		t.Error("issued again within the hour")
	}
	if !w.due(now.Add(lateEvery)) {
		t.Error("nothing issued for the late city")
	}
	if w.due(now.Add(3 * lateEvery)) {
		t.Error("issued again after the late city")
	}
	if diff := cmp.Diff(first, w.text(ofPune)); diff != "" {
		t.Errorf("forecasts of the early city (-first +later):\n%s", diff)
	}
	got := w.text("SELECT concat(place, ' ', toString(uniqExact(horizon))) FROM %s.forecast FINAL WHERE parameter = 'pm25' AND horizon > 0 AND day - horizon = '" + base.String() + "' GROUP BY place ORDER BY place")
	if strings.Join(got, ", ") != "Nashik 5, Pune 5" {
		t.Errorf("horizons %v, want five of both cities", got)
	}
	if got := w.text("SELECT concat(toString(count()), ' ', toString(max(fitted_at) = min(fitted_at))) FROM %s.forecast_issue FINAL WHERE run = ''"); got[0] != "1 1" {
		t.Errorf("issues and equal fits: %s, want one with one fit", got[0])
	}
}

// TestForecastsNeverChange repeats an issue that was not recorded, with other data of the base: it completes what is there.
func TestForecastsNeverChange(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	base := day(t, "2026-03-10")
	w.usualDays("Pune", base, 60)
	w.forecastOf("r", base, 60)
	const pm25 = "SELECT formatRow('CSV', *) AS line FROM %s.forecast FINAL WHERE horizon > 0 AND parameter = 'pm25' ORDER BY line"
	const others = "SELECT toString(uniqExact(parameter)) FROM %s.forecast FINAL WHERE horizon > 0"
	first, all := w.text(pm25), w.text(others)
	w.run("ALTER TABLE %s.forecast_issue DELETE WHERE 1 SETTINGS mutations_sync = 1")
	w.run("ALTER TABLE %s.forecast DELETE WHERE parameter != 'pm25' SETTINGS mutations_sync = 1")
	if _, err := w.issue(t.Context(), "r", "r", base, issueTime(base).Add(time.Minute), issueTime(base)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, w.text(pm25)); diff != "" {
		t.Errorf("forecasts of the first issue (-first +later):\n%s", diff)
	}
	if diff := cmp.Diff(all, w.text(others)); diff != "" {
		t.Errorf("parameters (-first +later):\n%s", diff)
	}
}

// TestTheLaterOfTwoIssuesIsRecorded lets the earlier of two issues of a base end last.
func TestTheLaterOfTwoIssuesIsRecorded(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	base := day(t, "2026-03-10")
	w.usualDays("Pune", base, 60)
	known := issueTime(base)
	w.forecastOf("r", base, 60)
	if _, err := w.issue(t.Context(), "r", "r", base, known.Add(-time.Minute), known); err != nil {
		t.Fatal(err)
	}
	got := w.text("SELECT toString((SELECT issued_at FROM %[1]s.forecast_issue FINAL WHERE run = 'r') = (SELECT max(issued_at) FROM %[1]s.forecast WHERE run = 'r' AND horizon > 0))")
	if got[0] != "1" {
		t.Error("the record has the earlier issue, want the one whose forecasts are stored")
	}
}

// TestOutcomesAreOfWholeDays: the day after the base has only its morning.
func TestOutcomesAreOfWholeDays(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	base := day(t, "2026-03-10")
	w.usualDays("Pune", base, 60)
	w.forecastOf("r", base, 60)
	w.run("INSERT INTO %s.city_day (city, state, day, at, aqi, pm25) VALUES ('Pune', '', ?, ?, 100, 60)", dayText(base+1), (base + 1).Start().Add(10*time.Hour))
	w.usualDays("Pune", base+2, 1)
	got := w.text("SELECT DISTINCT toString(day) FROM %s.forecast_outcome WHERE run = 'r' AND parameter = 'pm25'")
	if diff := cmp.Diff([]string{(base + 2).String()}, got); diff != "" {
		t.Errorf("days with an outcome (-want +got):\n%s", diff)
	}
}
