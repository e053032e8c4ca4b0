package airquality

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/schema/air"
)

// figures returns every computed row as text.
func (w *fixture) figures() (out []string) {
	w.Helper()
	const rows = `SELECT toString(tuple(COLUMNS('.*') EXCEPT computed_at)) FROM %s.`
	// The last digit of a mean depends on the order in which threads add the values.
	const means = `SELECT toString(tuple(* EXCEPT computed_at REPLACE (round(mean, 9) AS mean))) FROM %s.`
	out = append(out, w.text(means+"station_parameter_hour FINAL ORDER BY station, at, parameter, kind")...)
	out = append(out, w.text(means+"station_parameter_day FINAL ORDER BY station, parameter, day")...)
	out = append(out, w.text(rows+"station_hour FINAL ORDER BY station, at")...)
	out = append(out, w.text(rows+"city_hour FINAL ORDER BY city, state, at")...)
	return append(out, w.text(rows+"city_day FINAL ORDER BY city, state, day")...)
}

// step stores readings with a stamp 10 minutes after the previous step's. The
// lookback of the next roll-up does not reach those.
func (w *fixture) step(n int, readings []air.Reading) {
	w.Helper()
	stored := time.Now().Add(-100 * time.Hour).Add(time.Duration(n) * 10 * time.Minute)
	w.storedAt(stored, readings...)
	w.increment()
	w.exec("TRUNCATE TABLE %s.rollup")
	w.exec("INSERT INTO %s.rollup (started, hours_from, hours_to, stations) VALUES (?::DateTime64(3, 'UTC'), now(), now(), 1)",
		stored.Add(5*time.Minute).UTC().Format("2006-01-02 15:04:05.000"))
}

// Readings that arrive hour by hour, some late and some corrected, give the rows of
// one full computation.
func TestIncrementsEqualOneBackfill(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	random := rand.New(rand.NewPCG(7, 7))
	const hours, each = 48, 12
	steps := make([][]air.Reading, hours/each+2)
	last := len(steps) - 1 // brings one hour of the first day, and nothing else
	for i := range 2 {
		id := fmt.Sprintf("station-%d", i)
		w.station(id, fmt.Sprintf("City %d", i), "Kerala")
		for _, r := range readingsOf(id, randomSeries(uint64(10+i), hours)) {
			n := int(r.At.Sub(hour(0))/time.Hour) / each
			switch chance := random.IntN(20); {
			case r.At.Equal(hour(20)):
				n = last
			case chance == 0: // late
				n = min(n+1+random.IntN(5), last-1)
			case chance == 1: // corrected at the end
				wrong := r
				wrong.Value /= 2
				steps[n] = append(steps[n], wrong)
				n = last - 1
			}
			steps[n] = append(steps[n], r)
		}
	}
	for n, readings := range steps {
		w.step(n, readings)
	}
	stepwise := w.figures()
	for _, table := range []string{"station_hour", "city_hour", "city_day"} {
		w.exec("TRUNCATE TABLE %s." + table)
	}
	if _, err := w.rollup.Backfill(t.Context(), hour(-24), hour(200)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(w.figures(), stepwise); diff != "" {
		t.Errorf("increments against one backfill (-backfill +increments):\n%s", diff)
	}
	if len(stepwise) < 150 {
		t.Errorf("only %d rows were compared", len(stepwise))
	}
}

// Ozone of an afternoon counts while its 8-hour means are in the last 24 hours, even
// if an earlier roll-up computed them.
func TestOzoneOfYesterdayAfternoonCounts(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.station("s", "Pune", "Maharashtra")
	store := func(from, to int, ozone float64) {
		var all []air.Reading
		for h := from; h <= to; h++ {
			all = append(all,
				air.Reading{Station: "s", Parameter: air.PM25.Parameter(), At: hour(h), Value: 10},
				air.Reading{Station: "s", Parameter: air.PM10.Parameter(), At: hour(h), Value: 10},
				air.Reading{Station: "s", Parameter: air.O3.Parameter(), At: hour(h), Value: ozone})
		}
		w.step(to, all)
	}
	store(1, 8, 200)
	store(9, 29, 20)
	store(30, 30, 20) // this roll-up has new readings of its own hour only
	all := w.stationHours()
	if last := all[len(all)-1]; *last.Conc[air.O3-1] != 200 || *last.AQI != 280 {
		t.Errorf("hour 30 has O3 %v and AQI %d, want 200 and 280", *last.Conc[air.O3-1], *last.AQI)
	}
}

func TestBackfillHidesNoNewReadings(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.station("s", "Pune", "Maharashtra")
	w.exec("INSERT INTO %s.reading (station, parameter, at, value, kind, averaging, source, ingested_at) "+
		"SELECT 's', 'pm25', arrayJoin([?::DateTime, ?::DateTime]), 10, 'concentration', 60, 'test', now() - INTERVAL 1 HOUR",
		hour(1).Format(time.DateTime), hour(500).Format(time.DateTime))
	if _, err := w.rollup.Backfill(t.Context(), hour(0), hour(24)); err != nil {
		t.Fatal(err)
	}
	w.increment()
	if got := len(w.stationHours()); got != 2 {
		t.Errorf("%d hours, want both: a backfill of one day is no look for new readings", got)
	}
}

func TestClockSetBackHidesNoReadings(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.station("s", "Pune", "Maharashtra")
	w.exec("INSERT INTO %s.rollup (started, hours_from, hours_to, stations) VALUES (now() + INTERVAL 1 DAY, now(), now(), 1)")
	w.readings(air.Reading{Station: "s", Parameter: air.PM25.Parameter(), At: hour(1), Value: 10})
	if got := w.increment(); got.Stations != 1 {
		t.Errorf("a roll-up of tomorrow hides what is stored today: %+v", got)
	}
}

func TestUnalignedIntervalsCoverEveryHour(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.station("s", "Pune", "Maharashtra")
	w.readings(air.Reading{Station: "s", Parameter: air.PM25.Parameter(), At: hour(9).Add(-5 * time.Minute), Value: 10, Averaging: 90})
	w.increment()
	got := w.stationHours()
	if len(got) != 2 || !got[0].At.Equal(hour(8)) || !got[1].At.Equal(hour(9)) {
		t.Errorf("90 minutes up to 08:55 cover %v, want the hours 8 and 9", got)
	}
}

func TestIncrementWithNothingNewDoesNothing(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	if got := w.increment(); got.Stations != 0 {
		t.Errorf("an empty database gave %+v", got)
	}
	w.station("s", "Pune", "Maharashtra")
	// Stored an hour ago, beyond the lookback of a roll-up.
	w.exec("INSERT INTO %s.reading (station, parameter, at, value, kind, averaging, source, ingested_at) VALUES ('s', 'pm25', ?, 10, 'concentration', 60, 'test', now() - INTERVAL 1 HOUR)", hour(1))
	if got := w.increment(); got.Stations != 1 || !got.From.Equal(hour(1)) || !got.To.Equal(hour(31)) {
		t.Errorf("one reading gave %+v, want hours 1 to 31 of one station", got)
	}
	if got := w.increment(); got.Stations != 0 {
		t.Errorf("nothing new gave %+v", got)
	}
}

// after reports whether readings were stored between two calls of Recent.
func after(is, was Recent) bool { return is.Newest > was.Newest || is.Count > was.Count }

// Only readings that were stored meanwhile are new.
func TestRecentDetectsNewReadings(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	recent := func() Recent {
		t.Helper()
		found, err := w.rollup.Recent(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	pm := func(n int) air.Reading {
		return air.Reading{Station: "a", Parameter: air.PM25.Parameter(), At: hour(n), Value: 60}
	}
	before := recent()
	if before != (Recent{}) {
		t.Errorf("an empty table has %+v", before)
	}
	w.storedAt(time.Now().Add(-time.Hour), pm(1))
	if after(recent(), before) {
		t.Error("a reading that was stored an hour ago is new")
	}
	w.storedAt(time.Now(), pm(2))
	first := recent()
	if !after(first, before) {
		t.Error("a reading that was just stored is not new")
	}
	if after(recent(), first) {
		t.Error("without a further reading there is a new one")
	}
	w.storedAt(time.Now().Add(-time.Minute), pm(3))
	if !after(recent(), first) {
		t.Error("a reading that became visible late is not new")
	}
}
