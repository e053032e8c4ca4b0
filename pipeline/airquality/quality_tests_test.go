package airquality

import (
	"slices"
	"testing"
	"time"

	"vayu/schema"
	"vayu/schema/air"
)

// spike returns quarter-hourly readings up to an instant; the last but one is a
// spike.
func spike(station string, end time.Time) (all []air.Reading) {
	for k := range 8 {
		value := 20.0
		if k == 1 {
			value = 400
		}
		all = append(all, air.Reading{Station: station, Parameter: air.PM25.Parameter(), At: end.Add(-time.Duration(k) * 15 * time.Minute), Value: value + float64(k%2), Averaging: 15})
	}
	return all
}

func (w *fixture) suspects(station string) string {
	w.Helper()
	return w.text("SELECT concat(toString(sum(suspect)), ' of ', toString(sum(count))) FROM %s.station_parameter_hour FINAL WHERE station = '" + station + "'")[0]
}

// Figures of recent hours precede the tests of their series, and include suspect
// readings after them.
func TestSeriesAreTestedAfterTheFigures(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.station("s", "Pune", "Maharashtra")
	closed := schema.HourEnd(time.Now()).Add(-time.Hour)
	w.readings(spike("s", closed)...)
	if got := w.figuresOnly(); got.Stations != 1 {
		t.Fatalf("the increment is of %d stations", got.Stations)
	}
	if got := w.suspects("s"); got != "0 of 8" {
		t.Errorf("before the tests %s readings are suspect", got)
	}
	tested, err := w.rollup.TestSeries(t.Context())
	if err != nil || tested.Stations != 1 {
		t.Fatalf("the tests changed %d stations, %v", tested.Stations, err)
	}
	if got := w.suspects("s"); got != "1 of 8" {
		t.Errorf("after the tests %s readings are suspect, want 1", got)
	}
	if again, err := w.rollup.TestSeries(t.Context()); err != nil || again.Stations != 0 {
		t.Errorf("tests without new readings changed %d stations, %v", again.Stations, err)
	}
}

// The tests compute the hours of readings that arrived after the increment. An hour of a city thus never has only the
// stations whose results changed.
func TestSeriesKeepCitiesWhole(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.station("s", "Pune", "Maharashtra")
	w.station("quiet", "Pune", "Maharashtra")
	w.station("elsewhere", "Delhi", "Delhi")
	if got := w.figuresOnly(); got.Stations != 0 {
		t.Fatalf("the increment before the readings is of %d stations", got.Stations)
	}
	closed := schema.HourEnd(time.Now()).Add(-time.Hour)
	w.readings(slices.Concat(spike("s", closed), spike("quiet", closed)[2:], spike("elsewhere", closed)[2:])...)
	if _, err := w.rollup.TestSeries(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, want := w.text("SELECT DISTINCT station FROM %s.station_parameter_hour FINAL ORDER BY station"), []string{"elsewhere", "quiet", "s"}; !slices.Equal(got, want) {
		t.Errorf("hours of the stations %q, want %q", got, want)
	}
	if got := w.suspects("s"); got != "1 of 8" {
		t.Errorf("after the tests %s readings are suspect, want 1", got)
	}
	if again := w.figuresOnly(); again.Stations != 0 {
		t.Errorf("the next increment computes %d stations again", again.Stations)
	}
}

// A series is tested once its hour is complete: a sensor by the minute is not
// tested every minute.
func TestSeriesOfAnOpenHourAreTestedWhenItHasEnded(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.station("open", "Pune", "Maharashtra")
	w.station("ended", "Pune", "Maharashtra")
	now := time.Now()
	next := schema.HourEnd(now).Add(time.Hour) // still open if an hour ends during the test
	closed := schema.HourEnd(now).Add(-time.Hour)
	w.readings(spike("open", next)[:4]...)
	w.storedAt(closed.Add(-time.Minute), spike("ended", closed)...)
	w.figuresOnly()
	// The last tests ran after these readings arrived and before their hour ended.
	w.exec("INSERT INTO %s.rollup (started, tested, hours_from, hours_to, stations) VALUES (0, ?, now(), now(), 0)", closed.Add(-30*time.Second))
	if _, err := w.rollup.TestSeries(t.Context()); err != nil {
		t.Fatal(err)
	}
	spikes := w.text("SELECT station FROM %s.reading_quality FINAL WHERE test = 'spike' ORDER BY station")
	if got := w.suspects("ended"); got != "1 of 8" || !slices.Equal(spikes, []string{"ended"}) {
		t.Errorf("of the ended hour %s readings are suspect, and the spikes are of %q", got, spikes)
	}
}
