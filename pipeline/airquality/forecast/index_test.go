package forecast

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/schema"
)

// TestIndexOfModelHasAllPollutants has a city whose PM2.5, by far the worst pollutant, began two months ago. The damped
// anomaly has no PM2.5, and takes that of persistence.
func TestIndexOfModelHasAllPollutants(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	base := day(t, "2025-12-20")
	var all []cityDay
	for age := range schema.Day(700) {
		usual := 40 + 10*float64(((base-age)*7)%11)/11
		d := cityDay{city: "Pune", day: base - age, amounts: [6]*float64{nil, &usual, &usual, &usual}}
		if age < 60 {
			particles := 5 * usual
			d.amounts[0] = &particles
		}
		d.index()
		all = append(all, d)
	}
	w.cityDays(all)
	w.forecastOf("r", base, 700)
	got := w.text("SELECT concat(model, ' ', if(p10 > 300, 'over 300', 'below')) AS line FROM %s.forecast FINAL WHERE parameter = 'aqi' AND horizon = 2 ORDER BY line")
	if diff := cmp.Diff([]string{"damped_anomaly over 300", "persistence over 300"}, got); diff != "" {
		t.Errorf("AQI of PM2.5 over 200 µg/m³ (-want +got):\n%s", diff)
	}
}

// TestIndexOfCitiesIsCentred has a city whose AQI is 80 above that of its mean concentrations, because its stations differ.
func TestIndexOfCitiesIsCentred(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	base := day(t, "2025-12-20")
	var all []cityDay
	for age := range schema.Day(700) {
		usual := 70 + 15*float64(((base-age)*7)%11)/11
		d := cityDay{city: "Pune", day: base - age, amounts: [6]*float64{&usual, &usual, &usual, &usual}}
		d.index()
		d.aqi += 80
		all = append(all, d)
	}
	w.cityDays(all)
	w.forecastOf("r", base, 700)
	const chances = "[good, satisfactory, moderate, poor, very_poor, severe]"
	const category = "multiIf(p50 <= 50, 1, p50 <= 100, 2, p50 <= 200, 3, p50 <= 300, 4, p50 <= 400, 5, 6)"
	if bad := w.text("SELECT formatRow('CSV', *) FROM %s.forecast FINAL WHERE parameter = 'aqi' AND horizon > 0 AND (arraySum(arraySlice(" + chances + ", 1, " + category + ")) < 0.48 OR arraySum(arraySlice(" + chances + ", " + category + ")) < 0.48)"); len(bad) > 0 {
		t.Errorf("the 50th percentile is not in the middle of the probabilities: %v", bad)
	}
	// Sub-indices of 70 to 85 µg/m³ of PM2.5 are 134 to 183.
	if got := w.text("SELECT toString(countIf(p50 BETWEEN 214 AND 263)) FROM %s.forecast FINAL WHERE parameter = 'aqi' AND horizon = 2"); got[0] != "3" {
		t.Errorf("%s of three models are as high as the AQI of the city", got[0])
	}
	if got := w.text("SELECT toString(p50 = (SELECT aqi FROM %[1]s.city_day WHERE day = '" + base.String() + "')) FROM %[1]s.forecast FINAL WHERE parameter = 'aqi' AND horizon = 2 AND model = 'persistence'"); got[0] != "1" {
		t.Error("persistence does not repeat the AQI")
	}
}
