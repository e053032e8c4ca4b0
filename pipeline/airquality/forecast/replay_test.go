package forecast

import (
	"strings"
	"testing"
)

func TestReplayOfTheArchive(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.cityDays(archive(t))
	run, rows, err := w.Replay(t.Context(), Replay{Targets: Span{day(t, "2019-08-01"), day(t, "2019-08-20")}, AsMeasured: true})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := w.WriteScore(t.Context(), run, &b); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d\n%s", rows, b.String())
	for _, line := range w.text("SELECT formatRow('TSV', horizon, model, event, sum(forecasts), sum(hits), sum(misses), sum(false_alarms), avg(brier)) FROM %s.forecast_event GROUP BY horizon, model, event ORDER BY 1") {
		t.Log(strings.TrimSpace(line))
	}
}
