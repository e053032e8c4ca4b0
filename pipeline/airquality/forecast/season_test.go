package forecast

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFirstDaysOfASeason has only a city whose data began in August. On 5 December no place has errors of a winter.
func TestFirstDaysOfASeason(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	base := day(t, "2025-12-05")
	w.usualDays("Pune", base, 120)
	w.forecastOf("alone", base, 120)
	const figures = "SELECT concat(place, ' ', parameter, ' ', toString(horizon), ': ', model, ' ', reason) AS line FROM %s.forecast FINAL WHERE parameter IN ('pm25', 'aqi') AND served AND run = "
	want := []string{
		"Pune aqi 1: persistence too_little_history", "Pune aqi 2: persistence too_little_history", "Pune aqi 3: persistence too_little_history", "Pune aqi 4: persistence too_little_history",
		"Pune aqi 5: persistence too_little_history",
		"Pune pm25 1: persistence too_little_history", "Pune pm25 2: persistence too_little_history", "Pune pm25 3: persistence too_little_history", "Pune pm25 4: persistence too_little_history",
		"Pune pm25 5: persistence too_little_history",
	}
	if diff := cmp.Diff(want, w.text(figures+"'alone' ORDER BY line")); diff != "" {
		t.Errorf("forecasts of a city (-want +got):\n%s", diff)
	}
	w.usualDays("Nashik", base, 10)
	w.forecastOf("pooled", base, 120)
	want = []string{"Nashik pm25 2: persistence too_little_history"}
	if diff := cmp.Diff(want, w.text(figures+"'pooled' AND place = 'Nashik' AND parameter = 'pm25' AND horizon = 2")); diff != "" {
		t.Errorf("forecasts of a young city beside it (-want +got):\n%s", diff)
	}
}

// TestNoErrorsAreKnown has only a city with three weeks of data: no forecast has an interval, and the reason is true.
func TestNoErrorsAreKnown(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	base := day(t, "2025-12-05")
	w.usualDays("Pune", base, 21)
	w.usualDays("Nashik", base, 6)
	w.forecastOf("r", base, 21)
	got := w.text("SELECT concat(place, ' ', toString(horizon), ': ', model, ' ', reason) AS line FROM %s.forecast FINAL WHERE parameter = 'pm25' ORDER BY line")
	if diff := cmp.Diff([]string{"Nashik 0: none too_little_history", "Pune 0: none no_residuals"}, got); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
}
