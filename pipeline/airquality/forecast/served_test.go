package forecast

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPersistenceIsServedWhereItIsBetter has cities whose air returns to the usual, and one whose air wanders: there,
// the last day is the best forecast of the next.
func TestPersistenceIsServedWhereItIsBetter(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	base := day(t, "2025-12-31")
	chance := rand.New(rand.NewPCG(1, 2))
	const days = 1200
	var all []cityDay
	for _, city := range []string{"wandering", "a", "b", "c", "d", "e"} {
		level := 0.
		for d := base - days + 1; d <= base; d++ {
			keep, step := 0.4, 0.4
			if city == "wandering" {
				keep, step = 1, 0.05
			}
			level = keep*level + step*chance.NormFloat64()
			v := 60 * math.Exp(level)
			all = append(all, cityDay{city: city, day: d, amounts: [6]*float64{&v, &v, &v}})
			all[len(all)-1].index()
		}
	}
	w.cityDays(all)
	w.forecastOf("r", base, days)
	got := w.text("SELECT concat(place, ' ', parameter, ': ', model, ' ', reason) FROM %s.forecast FINAL WHERE served AND horizon = 1 AND parameter IN ('pm25', 'aqi') AND place IN ('wandering', 'a') ORDER BY 1")
	want := []string{
		"a aqi: damped_anomaly ", "a pm25: damped_anomaly ",
		"wandering aqi: persistence persistence_not_beaten", "wandering pm25: persistence persistence_not_beaten",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("served forecasts (-want +got):\n%s", diff)
	}
}
