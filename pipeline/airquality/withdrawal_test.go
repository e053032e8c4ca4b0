package airquality

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/schema/air"
	"vayu/schema/parameter"
)

// figuresWithout returns the figures of a database that never had the excluded
// readings.
func figuresWithout(t *testing.T, city string, readings []air.Reading) []string {
	t.Helper()
	w := newFixture(t)
	w.station("s", city, "Kerala")
	w.readings(readings...)
	w.increment()
	return w.figures()
}

// remove stores tombstones, as an ingest does when a source corrects readings to
// missing.
func (w *fixture) remove(readings ...air.Reading) {
	w.Helper()
	for _, r := range readings {
		w.exec(`INSERT INTO %s.reading (station, parameter, at, kind, averaging, source, removed) VALUES (?, ?, ?, ?, ?, 'test', 1)`,
			r.Station, r.Parameter.ID(), r.At, air.Concentration.String(), air.Hourly)
	}
}

func TestReadingsCorrectedToMissingLeaveEveryFigure(t *testing.T) {
	t.Parallel()
	all := readingsOf("s", randomSeries(3, 40))
	w := newFixture(t)
	w.station("s", "Kochi", "Kerala")
	w.readings(all...)
	w.increment()
	var kept, gone []air.Reading
	for _, r := range all { // the last hours lose all readings, and the hours before lose their AQI
		if r.At.After(hour(14)) {
			gone = append(gone, r)
		} else {
			kept = append(kept, r)
		}
	}
	w.remove(gone...)
	w.increment()
	if diff := cmp.Diff(figuresWithout(t, "Kochi", kept), w.figures()); diff != "" {
		t.Errorf("-never stored +corrected to missing:\n%s", diff)
	}
	if rows := w.text("SELECT city FROM %s.city_hour FINAL"); len(rows) > 0 {
		t.Errorf("%d hours of the city have an AQI of fewer than 16 hours", len(rows))
	}
}

func TestWithdrawalAndReinstatement(t *testing.T) {
	t.Parallel()
	all := readingsOf("s", randomSeries(4, 40))
	w := newFixture(t)
	w.station("s", "Kochi", "Kerala")
	w.readings(all...)
	w.increment()
	whole := w.figures()

	withdrawal := Withdrawal{ID: NewWithdrawalID(), Station: "s", Parameter: parameter.PM25, From: hour(5), To: hour(20), Reason: "calibration", Actor: "test"}
	if n, err := w.rollup.CountWithdrawn(t.Context(), withdrawal); err != nil || n == 0 {
		t.Fatalf("it covers %d readings, %v", n, err)
	}
	if err := w.rollup.Withdraw(t.Context(), withdrawal); err != nil {
		t.Fatal(err)
	}
	w.increment()
	var kept []air.Reading
	for _, r := range all {
		if r.Parameter != parameter.PM25 || !r.At.After(hour(5)) || r.At.After(hour(20)) {
			kept = append(kept, r)
		}
	}
	if diff := cmp.Diff(ofIndex(figuresWithout(t, "Kochi", kept)), ofIndex(w.figures())); diff != "" {
		t.Errorf("-never stored +withdrawn:\n%s", diff)
	}
	// The hours stay, with their readings marked as excluded.
	const excluded = "SELECT DISTINCT toString((mean, count, excluded, flag, coverage)) FROM %s.station_parameter_hour FINAL WHERE excluded > 0"
	if got := w.text(excluded); len(got) != 1 || got[0] != "(NULL,0,1,'fail',0)" {
		t.Errorf("hours with excluded readings are %q", got)
	}
	if n := w.text("SELECT toString(count()) FROM %s.reading FINAL"); n[0] == "0" {
		t.Error("the readings themselves are gone")
	}

	found, err := w.rollup.Withdrawal(t.Context(), withdrawal.ID)
	if err != nil || found.Reason != "calibration" || found.Parameter != parameter.PM25 {
		t.Fatalf("%+v, %v", found, err)
	}
	if err := w.rollup.Reinstate(t.Context(), found); err != nil {
		t.Fatal(err)
	}
	w.increment()
	if diff := cmp.Diff(whole, w.figures()); diff != "" {
		t.Errorf("-before +reinstated:\n%s", diff)
	}
	if _, err := w.rollup.Withdrawal(t.Context(), withdrawal.ID); !errors.Is(err, ErrNoWithdrawal) {
		t.Errorf("the withdrawal still holds: %v", err)
	}
	if _, err := w.rollup.CountWithdrawn(t.Context(), Withdrawal{Station: "t", From: hour(0), To: hour(40)}); !errors.Is(err, ErrNoReadings) {
		t.Errorf("a withdrawal of nothing: %v", err)
	}
}

// ofIndex returns the figures of the index, without plain means.
func ofIndex(figures []string) []string {
	return slices.DeleteFunc(slices.Clone(figures), func(row string) bool {
		return strings.Contains(row, "'good'") || strings.Contains(row, "'fail'")
	})
}

// failingConn lets a number of statements run for the first time, and fails the next one, as if the process were
// killed before it.
type failingConn struct {
	Conn

	ran  map[string]bool // by their first lines, the statements that have run
	left int
}

var errKilled = errors.New("killed")

func (c *failingConn) Exec(ctx context.Context, query string, args ...any) error {
	line, _, _ := strings.Cut(query, "\n")
	if !c.ran[line] {
		if c.left--; c.left < 0 {
			return errKilled
		}
		c.ran[line] = true
	}
	return c.Conn.Exec(ctx, query, args...)
}

// Roll-ups are killed between any two statements, each one statement later than the one before. The first that
// completes leaves the same rows as an undisturbed one.
func TestRollupRecoversFromAKill(t *testing.T) {
	t.Parallel()
	all := readingsOf("s", randomSeries(5, 30))
	kept, removed := all[:len(all)-40], all[len(all)-40:]
	w := newFixture(t)
	w.station("s", "Kochi", "Kerala")
	w.readings(all...)
	w.increment()
	w.remove(removed...)
	conn := &failingConn{Conn: w.rollup.conn, ran: map[string]bool{}}
	w.rollup.conn = conn
	kills := 0
	for ; ; kills++ {
		conn.left = min(kills, 1)
		_, err := w.rollup.Increment(t.Context())
		if err == nil {
			break
		}
		if !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
	}
	if kills < 6 {
		t.Errorf("a roll-up has %d statements, want at least one for each table and one that removes", kills)
	}
	w.increment()
	if diff := cmp.Diff(figuresWithout(t, "Kochi", kept), w.figures()); diff != "" {
		t.Errorf("-clean +killed %d times:\n%s", kills, diff)
	}
}

// An increment computes the hours of its own readings, not those of an import
// shortly before.
func TestIncrementComputesOnlyWhatChanged(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	for _, id := range []string{"a", "b"} {
		w.station(id, "City "+id, "Kerala")
	}
	w.readings(readingsOf("a", randomSeries(6, 20))...)
	if got := w.increment(); got.Stations != 1 {
		t.Fatalf("%d stations were computed, want 1", got.Stations)
	}
	w.readings(readingsOf("b", randomSeries(7, 20))...)
	if got := w.increment(); got.Stations != 1 {
		t.Errorf("%d stations were computed, want the one that has new readings", got.Stations)
	}
	// A reading is found that was stored before the last roll-up began and became
	// visible after it.
	late := readingsOf("a", randomSeries(6, 21))
	w.storedAt(time.Now().Add(-10*time.Second), late[len(late)-1])
	if got := w.increment(); got.Stations == 0 {
		t.Error("a reading that became visible late was not computed")
	}
}

// A relocated station leaves no rows in its old city.
func TestRelocatedStationLeavesItsOldCity(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.station("stays", "Pune", "Maharashtra")
	w.station("moves", "Pune", "Maharashtra")
	w.readings(append(readingsOf("stays", randomSeries(8, 20)), readingsOf("moves", randomSeries(9, 30))...)...)
	w.increment()
	w.exec("INSERT INTO %s.station (id, name, city, state, kind) VALUES ('moves', 'moves', 'Satara', 'Maharashtra', 'reference')")
	w.exec("INSERT INTO %s.station_change (station, field, before, after) VALUES ('moves', 'city', 'Pune\tMaharashtra', 'Satara\tMaharashtra')")
	w.increment()
	got := w.figures()

	fresh := newFixture(t)
	fresh.station("stays", "Pune", "Maharashtra")
	fresh.station("moves", "Satara", "Maharashtra")
	fresh.readings(append(readingsOf("stays", randomSeries(8, 20)), readingsOf("moves", randomSeries(9, 30))...)...)
	fresh.increment()
	if diff := cmp.Diff(fresh.figures(), got); diff != "" {
		t.Errorf("-in Satara from the beginning +moved there:\n%s", diff)
	}
}

func TestReadingsOfAnAliasAreNotWithdrawn(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.station("alias", "Pune", "Maharashtra")
	w.readings(air.Reading{Station: "alias", Parameter: air.PM25.Parameter(), At: hour(1), Value: 10})
	w.exec("INSERT INTO %s.station_alias (alias, station) VALUES ('alias', 'station')")
	_, err := w.rollup.CountWithdrawn(t.Context(), Withdrawal{Station: "alias", From: hour(0), To: hour(2)})
	if err == nil || !strings.Contains(err.Error(), `"alias" is an alias of "station"`) {
		t.Errorf("the error is %v", err)
	}
}
