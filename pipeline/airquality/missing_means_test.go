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
