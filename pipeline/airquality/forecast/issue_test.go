package forecast

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/schema"
)

// forecastOf fits to some days up to base, and issues for base.
func (w *fixture) forecastOf(run string, base schema.Day, days int) {
	w.Helper()
	span := Span{base - schema.Day(days) + 1, base}
	known := issueTime(base)
	if err := w.prepare(w.Context(), run, span, false); err != nil {
		w.Fatal(err)
	}
	if err := w.fit(w.Context(), run, run, span, known); err != nil {
		w.Fatal(err)
	}
	if _, err := w.issue(w.Context(), run, run, base, known, known); err != nil {
		w.Fatal(err)
	}
}

// TestNoForecastRatherThanAWrongOne gives cities the faults that real series have.
func TestNoForecastRatherThanAWrongOne(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	base := day(t, "2025-12-31")
	const years = 1000
	var all []cityDay
	for age := range schema.Day(years) {
		d := base - age
		usual := 60 + 30*float64((d*7)%11)/11
		for city, value := range map[string]float64{
			"usual": usual, "ended": usual, "gap": usual, "recent gap": usual, "constant": usual, "zero": usual, "sentinel": usual, "new": usual, "young": usual,
		} {
			amount := value
			switch {
			case city == "ended" && age < 30, city == "gap" && age == 0, city == "recent gap" && age > 0 && age < 5, city == "new" && age > 3, city == "young" && age > 60:
				continue
			case city == "constant" && age < 10:
				amount = 55
			case city == "zero" && age == 0:
				amount = 0
			case city == "sentinel" && age == 0:
				amount = 999
			}
			all = append(all, cityDay{city: city, day: d, aqi: 100, amounts: [6]*float64{&amount}})
		}
	}
	w.cityDays(all)
	w.forecastOf("r", base, years)
	got := w.text("SELECT concat(place, ': ', model, ' ', reason) FROM %s.forecast FINAL WHERE run = 'r' AND parameter = 'pm25' AND served AND horizon < 2 ORDER BY 1")
	want := []string{
		"constant: none constant_series", "ended: none no_recent_data", "gap: none no_recent_data", "new: none too_little_history",
		"recent gap: persistence recent_gaps", "sentinel: none implausible_value", "usual: damped_anomaly ", "young: persistence too_little_history", "zero: none implausible_value",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("forecasts (-want +got):\n%s", diff)
	}
}

// TestForecastsAreConsistent checks every row of an issue of real data.
func TestForecastsAreConsistent(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.cityDays(archive(t))
	w.forecastOf("r", day(t, "2019-11-20"), 1785)
	for what, condition := range map[string]string{
		"the percentiles are in order":            "p10 <= p50 AND p50 <= p90",
		"probabilities of categories add up to 1": "parameter != 'aqi' OR abs(good + satisfactory + moderate + poor + very_poor + severe - 1) < 1e-5",
		"an AQI is from 0 to 500":                 "parameter != 'aqi' OR p10 >= 0 AND p90 <= 500",
		"concentrations are positive":             "p10 > 0 OR parameter = 'aqi'",
	} {
		if bad := w.text("SELECT formatRow('CSV', *) FROM %s.forecast FINAL WHERE horizon > 0 AND NOT (" + condition + ") LIMIT 3"); len(bad) > 0 {
			t.Errorf("%s: not in %v", what, bad)
		}
	}
	served := w.text("SELECT toString(max(n)) FROM (SELECT sum(served) AS n FROM %s.forecast FINAL WHERE horizon > 0 GROUP BY place, parameter, horizon)")
	if diff := cmp.Diff([]string{"1"}, served); diff != "" {
		t.Errorf("models served for one figure (-want +got):\n%s", diff)
	}
	if got := w.text("SELECT toString(countIf(model = 'damped_anomaly' AND served) > 100) FROM %s.forecast FINAL"); got[0] != "1" {
		t.Error("the damped anomaly is served for fewer than 100 figures")
	}
}
