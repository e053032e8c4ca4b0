package airquality

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/schema/air"
)

// Readings of 0.1.0 have no plain means. The first roll-up computes them, so that
// the hours after the migration have their 24 hours.
func TestMeansOfMigratedReadingsAreComputedOnce(t *testing.T) {
	t.Parallel()
	all := readingsOf("s", randomSeries(10, 40))
	var old, fresh []air.Reading
	for _, r := range all {
		if r.At.After(hour(36)) {
			fresh = append(fresh, r)
		} else {
			old = append(old, r)
		}
	}
	w := newFixture(t)
	w.station("s", "Kochi", "Kerala")
	w.storedAt(time.Now().Add(-time.Hour), old...)
	w.exec("INSERT INTO %s.rollup (started, hours_from, hours_to, stations) VALUES (now64(3) - INTERVAL 30 MINUTE, now(), now(), 1)")
	w.exec("INSERT INTO %s.rollup (started, hours_from, hours_to, stations, means) VALUES (0, now(), now(), 0, 'wanted')")
	w.readings(fresh...)
	w.increment()

	whole := newFixture(t)
	whole.station("s", "Kochi", "Kerala")
	whole.readings(all...)
	whole.increment()
	const means = "SELECT toString(tuple(COLUMNS('.*') EXCEPT computed_at)) FROM %s.station_parameter_hour FINAL ORDER BY at, parameter"
	if diff := cmp.Diff(whole.text(means), w.text(means)); diff != "" {
		t.Errorf("plain means (-never migrated +migrated):\n%s", diff)
	}
	const hours = "SELECT toString(tuple(COLUMNS('.*') EXCEPT computed_at)) FROM %s.station_hour FINAL ORDER BY at DESC LIMIT 3"
	if diff := cmp.Diff(whole.text(hours), w.text(hours)); diff != "" {
		t.Errorf("hours after the migration (-never migrated +migrated):\n%s", diff)
	}
	if done := w.text("SELECT toString(means) FROM %s.rollup ORDER BY means"); !slices.Contains(done, "amounts_done") {
		t.Errorf("the roll-ups are %s", strings.Join(done, ", "))
	}
	if wanted, err := w.rollup.meansWanted(t.Context()); err != nil || wanted {
		t.Errorf("means are still wanted: %v, %v", wanted, err)
	}
}

// An instance of before leads for a while during a rolling upgrade. It acknowledges only marks that it has known.
func TestAnOlderProgramDoesNotAcknowledgeNewMeans(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	mark := func(value string) {
		w.exec("INSERT INTO %s.rollup (started, hours_from, hours_to, stations, means, at) SELECT 0, now(), now(), 0, ?, max(at) + INTERVAL 1 SECOND FROM "+w.name+".rollup", value)
	}
	for _, step := range []struct {
		mark   string
		wanted bool
	}{{"wanted", true}, {"amounts_wanted", true}, {"done", true}, {"amounts_done", false}, {"wanted", true}, {"amounts_done", false}} {
		mark(step.mark)
		got, err := w.rollup.meansWanted(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got != step.wanted {
			t.Errorf("after %s means are wanted: got %v, want %v", step.mark, got, step.wanted)
		}
	}
}

// An instance of before leads once more after the acknowledgement. The rain that it stores is computed again, once.
func TestRainOfAnOlderProgramIsComputedAgain(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.station("s", "Kochi", "Kerala")
	rain := mustParse(t, "rain")
	for i, v := range []float64{1, 2, 0, 1} {
		w.readings(air.Reading{Station: "s", Parameter: rain, At: hour(10).Add(time.Duration(i+1) * 15 * time.Minute), Value: v, Averaging: 15})
	}
	w.increment()
	const amounts = "SELECT toString(mean) FROM %s.station_parameter_hour FINAL WHERE parameter = 'rain'"
	if diff := cmp.Diff([]string{"4"}, w.text(amounts)); diff != "" {
		t.Fatalf("rain (-want +got):\n%s", diff)
	}
	w.exec("INSERT INTO %[1]s.station_parameter_hour SELECT * REPLACE (1 AS mean, now64(3) AS computed_at) FROM %[1]s.station_parameter_hour FINAL")
	w.exec("INSERT INTO %[1]s.rollup (started, hours_from, hours_to, stations, at) SELECT now64(3), min(hour.at), max(hour.at), 1, (SELECT max(at) + INTERVAL 1 SECOND FROM %[1]s.rollup) FROM %[1]s.station_parameter_hour AS hour")
	if w.increment(); w.text(amounts)[0] != "4" {
		t.Errorf("rain of the older program: got %s, want 4", w.text(amounts)[0])
	}
	w.exec("INSERT INTO %[1]s.rollup (started, hours_from, hours_to, stations, means, at) SELECT now64(3), now(), now(), 0, 'amounts', max(at) + INTERVAL 1 SECOND FROM %[1]s.rollup")
	if chunks, err := w.rollup.rainOfOthers(t.Context()); err != nil || len(chunks) > 0 {
		t.Errorf("got %d parts of rain to compute again, %v; want none", len(chunks), err)
	}
}
