package forecast

import (
	"context"
	"testing"
	"time"

	wait "vayu/internal/testing/fixture"
	"vayu/schema"
)

// usualDays stores days of a city up to a last day, whose concentrations change from day to day.
func (w *fixture) usualDays(city string, last schema.Day, days int) {
	w.Helper()
	var all []cityDay
	for age := range schema.Day(days) {
		v := 60 + 30*float64((int(last-age)*7)%11)/11
		all = append(all, cityDay{city: city, day: last - age, aqi: 100, amounts: [6]*float64{&v, &v, &v}})
	}
	w.cityDays(all)
}

// due returns whether dueDays issued forecasts.
func (w *fixture) due(now time.Time) bool {
	w.Helper()
	issued, err := w.dueDays(w.Context(), now)
	if err != nil {
		w.Fatal(err)
	}
	return issued
}

// fits returns the number of fits that issues used.
func (w *fixture) fits() string {
	w.Helper()
	return w.text("SELECT toString(uniqExact(fitted_at)) FROM %s.forecast_issue FINAL WHERE forecasts > 0")[0]
}

func TestDueOncePerDay(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	base := day(t, "2026-03-10")
	w.usualDays("Pune", base, 600)
	steps := []struct {
		what string
		now  time.Time
		want bool
	}{
		{"until two hours after the day", issueTime(base), true}, // those of the day before
		{"after two hours", issueTime(base).Add(time.Second), true},
		{"again", issueTime(base).Add(time.Minute), false},
		{"the next day without data", issueTime(base + 1).Add(time.Second), false},
		{"the next day without data, hours later", issueTime(base + 1).Add(patience + time.Hour), false},
	}
	for _, s := range steps {
		if got := w.due(s.now); got != s.want {
			t.Errorf("%s: issued %v, want %v", s.what, got, s.want)
		}
	}
	if got := w.fits(); got != "1" {
		t.Errorf("%s fits for two days, want 1", got)
	}
	w.usualDays("Pune", base+8, 9)
	if !w.due(issueTime(base + 8).Add(time.Second)) {
		t.Error("nothing issued after a week, want forecasts")
	}
	if got := w.fits(); got != "2" {
		t.Errorf("%s fits after a week, want 2", got)
	}
}

// TestDueWaitsForLatePlaces: one of three cities is early.
func TestDueWaitsForLatePlaces(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	base := day(t, "2026-03-10")
	for _, city := range []string{"Pune", "Nashik", "Nagpur"} {
		w.usualDays(city, base-1, 20)
	}
	w.usualDays("Pune", base, 1)
	if w.due(issueTime(base).Add(time.Second)) {
		t.Error("issued for one city of three, want to wait")
	}
	if !w.due(issueTime(base).Add(patience + time.Second)) {
		t.Error("nothing issued although the others are four hours late")
	}
}

// TestDueAfterAnImport imports an archive after an issue that found no history.
func TestDueAfterAnImport(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	base := day(t, "2026-03-10")
	w.usualDays("Pune", base, 3)
	now := issueTime(base).Add(time.Second)
	if !w.due(now) {
		t.Fatal("no issue")
	}
	w.usualDays("Pune", base-3, 900)
	if w.due(now.Add(lateEvery - time.Second)) {
		t.Error("issued again within the hour")
	}
	if !w.due(now.Add(lateEvery)) {
		t.Error("nothing issued after the import")
	}
	if got := w.text("SELECT toString(countIf(model = 'damped_anomaly') > 0) FROM %s.forecast FINAL WHERE served AND horizon > 0"); got[0] != "1" {
		t.Error("the damped anomaly is not served, want a fit with the imported days")
	}
	if w.due(now.Add(3 * lateEvery)) {
		t.Error("issued again although there were forecasts")
	}
}

// TestRunIssuesAndStops lets Run issue the forecasts of today.
func TestRunIssuesAndStops(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.usualDays("Pune", schema.DayOf(time.Now().Add(-2*time.Hour))-1, 600)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	wait.Eventually(t, "an issue", func() bool {
		return w.text("SELECT toString(countIf(forecasts > 0)) FROM %s.forecast_issue FINAL")[0] == "1"
	})
	cancel()
	if err := <-done; err != nil {
		t.Errorf("Run returned %v after its context ended, want nil", err)
	}
}
