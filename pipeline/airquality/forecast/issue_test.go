package forecast

import (
	"testing"
	"time"

	"vayu/schema"
)

// forecastOf fits to the days up to base and issues for it.
func (w *fixture) forecastOf(run string, base schema.Day, days int) {
	w.Helper()
	span := Span{base - schema.Day(days) + 1, base}
	known := atMidnight(base)
	if err := w.prepare(w.Context(), run, span, false); err != nil {
		w.Fatal(err)
	}
	if err := w.fit(w.Context(), run, run, span, known); err != nil {
		w.Fatal(err)
	}
	begin := time.Now()
	n, err := w.issue(w.Context(), run, run, base, known, known)
	if err != nil {
		w.Fatal(err)
	}
	w.Logf("%d forecasts in %s", n, time.Since(begin))
}

func TestIssueOfTheArchive(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.cityDays(archive(t))
	w.forecastOf("r", day(t, "2019-11-20"), 1785)
	for _, line := range w.text("SELECT formatRow('TSV', place, parameter, day, horizon, model, served, round(p10,1), round(p50,1), round(p90,1), good, satisfactory, moderate, poor, very_poor, severe, round(widening,2), history, reason) FROM %s.forecast WHERE place in ('Delhi','Aizawl','Mumbai', 'Talcher','Bhopal') and parameter in ('pm25','aqi') and (horizon in (0,1,4)) ORDER BY place, parameter, horizon,model") {
		t.Log(line)
	}
	for _, line := range w.text("SELECT formatRow('TSV', model, served, reason, count()) FROM %s.forecast GROUP BY model, served, reason ORDER BY 1") {
		t.Log(line)
	}
}
