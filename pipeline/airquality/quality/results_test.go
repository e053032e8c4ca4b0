package quality_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/pipeline/airquality/quality"
)

// wave is a plausible series: a daily cycle with some noise.
func wave(i int, mean float64) float64 {
	return math.Round((mean*(1+0.4*math.Sin(float64(i)*math.Pi/12))+float64(i*7%5))*100) / 100
}

// only returns the results of one test.
func only(results []string, test string) []string {
	kept := []string{}
	for _, r := range results {
		if strings.Contains(r, " "+test+" ") {
			kept = append(kept, r)
		}
	}
	return kept
}

func TestNearConstant(t *testing.T) {
	t.Parallel()
	w := newFixture(t, quality.Settings{})
	var r readings
	for i := range 40 { // 25 hours alike, then a cycle
		value := 200 + float64(i%3)
		if i > 24 {
			value = wave(i, 200)
		}
		r.add("a", "o3", start.Add(time.Duration(i)*time.Hour), 60, value)
		if i < 17 { // too few hours for a result
			r.add("b", "o3", start.Add(time.Duration(i)*time.Hour), 60, value)
		}
	}
	w.store(&r)
	w.run(start, start.Add(40*time.Hour), "a", "b")
	got := only(w.results(t, "a"), "near_constant")
	for i := range 8 { // the 18th to the 25th hour
		if want := start.Add(time.Duration(17+i)*time.Hour).Format("15:04") + " near_constant suspect: 24 hours with a variation below 0.1"; len(got) <= i || !strings.HasPrefix(got[i], want) {
			t.Fatalf("result %d of %q, want %q", i, got, want)
		}
	}
	if got := only(w.results(t, "b"), "near_constant"); len(got) > 0 {
		t.Errorf("17 hours gave %q", got)
	}
}

func TestSameHour(t *testing.T) {
	t.Parallel()
	w := newFixture(t, quality.Settings{})
	var r readings
	for i := range 24 * 6 {
		value := wave(i, 20)
		if i%24 == 3 { // a calibration every night
			value = 190
		}
		r.add("a", "o3", start.Add(time.Duration(i)*time.Hour), 60, value)
	}
	w.store(&r)
	w.run(start, start.Add(6*24*time.Hour), "a")
	want := []string{"22:30 same_hour suspect: on 4 of 7 days", "22:30 same_hour suspect: on 5 of 7 days", "22:30 same_hour suspect: on 6 of 7 days"}
	if diff := cmp.Diff(want, only(w.results(t, "a"), "same_hour")); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
}

// around places a station some kilometres north of the first.
func (w *fixture) around(id, kind string, km float64) {
	w.Helper()
	w.exec("INSERT INTO %s.station (id, kind, latitude, longitude) VALUES (?, ?, ?, 77.2)", id, kind, 28.6+km/111.2)
}

func TestNeighbours(t *testing.T) {
	t.Parallel()
	w := newFixture(t, quality.Settings{})
	var r readings
	add := func(station, kind string, km, value float64) {
		w.around(station, kind, km)
		r.add(station, "pm25", start, 60, value)
	}
	add("a", "reference", 0, 900)
	add("b", "reference", 4, 60)
	add("c", "reference", 8, 70)
	add("d", "reference", 9, 65)
	add("e", "sensor", 5, 500)
	add("far", "reference", 40, 800)
	w.store(&r)
	w.run(start, start, "b") // readings of b can change the results of stations nearby
	for station, want := range map[string][]string{
		"a":   {"19:30 neighbours suspect: hourly mean 900, of 3 neighbours 60 to 70"},
		"b":   {},
		"e":   {}, // a is as high
		"far": {},
	} {
		if diff := cmp.Diff(want, only(w.results(t, station), "neighbours")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", station, diff)
		}
	}

	w.exec("INSERT INTO %s.withdrawal (id, station, parameter, from_at, to_at) VALUES ('wdr_1', 'a', 'pm25', ?, ?)", start.Add(-time.Hour), start)
	w.run(start, start, "a")
	want := []string{"19:30 neighbours suspect: hourly mean 500, of 3 neighbours 60 to 70"}
	if diff := cmp.Diff(want, only(w.results(t, "e"), "neighbours")); diff != "" {
		t.Errorf("e beside a withdrawn reading (-want +got):\n%s", diff)
	}
}

func TestReadingsByThemselves(t *testing.T) {
	t.Parallel()
	w := newFixture(t, quality.Settings{})
	w.exec(`INSERT INTO %s.reading (station, parameter, at, value, kind, averaging, flag, source, ingested_at) VALUES
		('a', 'pm25', '2026-03-09 19:30:00', 300, 'concentration', 60, 'plain', 'x', '2026-03-09 19:26:00'),
		('a', 'pm10', '2026-03-09 19:30:00', 80, 'concentration', 60, 'stuck', 'x', '2026-03-09 19:24:00'),
		('a', 'no2', '2026-03-09 19:30:00', 501, 'sub_index', 60, 'plain', 'x', '2026-03-09 19:30:00'),
		('a', 'co', '1975-01-01 00:00:00', 1, 'concentration', 1440, 'clipped', 'x', '2026-03-09 19:30:00')`)
	w.run(time.Unix(0, 0), start, "a")
	want := []string{
		"00:00 impossible_date fail: received 2026-03-09 19:30:00.000",
		"00:00 source_flag suspect: clipped",
		"19:30 gross_range fail: 501",
		"19:30 impossible_date fail: received 2026-03-09 19:24:00.000",
		"19:30 pm25_above_pm10 suspect: PM2.5 300, PM10 80",
		"19:30 source_flag suspect: stuck",
		"19:30 pm25_above_pm10 suspect: PM2.5 300, PM10 80",
	}
	var got []string
	for _, r := range w.results(t, "a") {
		if !strings.Contains(r, "time_gap") && !strings.Contains(r, "rate_of_change") {
			got = append(got, r)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
}

// A station that reports as documented for five days writes NO2 in ppb for one.
func TestNOxSum(t *testing.T) {
	t.Parallel()
	w := newFixture(t, quality.Settings{})
	var r readings
	for i := range 24 * 6 {
		no, no2 := wave(i, 10), wave(i+6, 60)
		nox := math.Round((no/1.2274+no2/1.8818)*100) / 100
		if i >= 24*5 {
			no2 /= 1.8818
		}
		for parameter, value := range map[string]float64{"no": no, "no2": no2, "nox": nox} {
			r.add("a", parameter, start.Add(time.Duration(i)*time.Hour), 60, value)
		}
	}
	w.store(&r)
	w.run(start, start.Add(6*24*time.Hour), "a")
	if got := len(only(w.results(t, "a"), "nox_sum")); got != 3*24 {
		t.Errorf("%d results of nox_sum, want the 72 readings of the last day", got)
	}
	if got := w.count("SELECT toUInt64(documented * 1000 + zero_celsius + one_unit + neither) FROM %s.nox_form FINAL WHERE station = 'a' AND day = '2026-03-15'"); got != 24 {
		t.Errorf("the last day gives %d, want 24 times that are not as documented", got)
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	w := newFixture(t, quality.Settings{Off: map[string][]string{"test": {quality.Spike, quality.TimeGap, quality.RateOfChange}}, Exclude: []string{quality.FlatLine}})
	var r readings
	for i, v := range []float64{50, 900, 52, 52, 52, 52, 60, 4000, 61} {
		r.add("a", "pm25", start.Add(time.Duration(i)*time.Hour), 60, v)
	}
	w.store(&r)
	w.run(start, start.Add(9*time.Hour), "a")
	flagged := w.tester.FlaggedReadings("station = 'a'")
	rows := w.count("SELECT toUInt64(sum(worst * 10 + excluded)) FROM (SELECT %[1]s.station.id, v.* FROM %[1]s.station RIGHT JOIN " + flagged + " AS v ON v.station = %[1]s.station.id)")
	if rows != 4*31+41 {
		t.Errorf("flags add up to %d, want 4 suspect ones and 1 failed, all excluded: 165", rows)
	}
	for _, wrong := range []quality.Settings{{Exclude: []string{"spikes"}}, {Off: map[string][]string{"cpcb": {"x"}}}} {
		if faults := wrong.Validate(); len(faults) != 1 || !strings.Contains(faults[0].Error(), "there is no test") {
			t.Errorf("%v is refused with %v", wrong, faults)
		}
	}
}

// Results of a withdrawn or corrected reading are removed. Those of its neighbours
// are recomputed without it.
func TestResultsFollowReadings(t *testing.T) {
	t.Parallel()
	w := newFixture(t, quality.Settings{})
	var r readings
	for i, v := range []float64{50, 60, 4000, 61, 50, 7, 7, 7, 7} {
		r.add("a", "pm25", start.Add(time.Duration(i)*time.Hour), 60, v)
	}
	w.store(&r)
	w.run(start, start.Add(9*time.Hour), "a")
	before := w.results(t, "a")
	var correction readings
	at := start.Add(2 * time.Hour)
	correction.add("a", "pm25", at, 60, 55)
	correction.add("a", "pm25", start.Add(7*time.Hour), 60, 7)
	correction.removed[1] = 1
	w.store(&correction)
	w.run(at, start.Add(7*time.Hour), "a")
	want := []string{
		"18:30 time_gap missing: no reading for more than 4 hours",
		"19:30 rate_of_change not_evaluated: no reading in the hour before",
		"02:30 time_gap missing: no reading for 60 minutes",
		"03:30 rate_of_change not_evaluated: no reading in the hour before",
	}
	if diff := cmp.Diff(want, w.results(t, "a")); diff != "" {
		t.Errorf("after the correction of %q (-want +got):\n%s", before, diff)
	}
}

// Tests hour by hour, in any order, give the results of one run over all.
func TestIncrementsEqualOneRun(t *testing.T) {
	t.Parallel()
	const hours = 24 * 2
	value := func(i int) float64 {
		switch {
		case i%17 == 5:
			return 900
		case i > 33 && i < 39:
			return 33
		}
		return wave(i, 60)
	}
	results := func(order func(n int) int, step int) []string {
		w := newFixture(t, quality.Settings{})
		for n := 0; n < hours; n += step {
			var r readings
			for k := range step {
				i := order(n + k)
				if i%23 == 7 {
					continue
				}
				at := start.Add(time.Duration(i) * time.Hour)
				r.add("a", "pm25", at, 60, value(i))
				r.add("a", "no2", at, 60, 100+float64(i%3))
			}
			w.store(&r)
			if len(r.at) > 0 {
				first, last := r.at[0], r.at[0]
				for _, at := range r.at {
					first, last = minTime(first, at), maxTime(last, at)
				}
				w.run(first, last, "a")
			}
		}
		return w.results(t, "a")
	}
	want := results(func(n int) int { return n }, hours)
	for name, order := range map[string]func(int) int{
		"in reverse": func(n int) int { return hours - 1 - n },
	} {
		if diff := cmp.Diff(want, results(order, 8)); diff != "" {
			t.Errorf("%s (-one run +increments):\n%s", name, diff)
		}
	}
	if len(want) < 20 {
		t.Errorf("only %d results: %q", len(want), want)
	}
}

func minTime(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func maxTime(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// epa2021 is the formula as AirNow's Fire and Smoke Map documents it.
func epa2021(pa, rh float64) float64 {
	switch {
	case pa < 30:
		return 0.524*pa - 0.0862*rh + 5.75
	case pa < 50:
		return (0.786*(pa/20-3.0/2)+0.524*(1-(pa/20-3.0/2)))*pa - 0.0862*rh + 5.75
	case pa < 210:
		return 0.786*pa - 0.0862*rh + 5.75
	case pa < 260:
		share := pa/50 - 21.0/5
		return (0.69*share+0.786*(1-share))*pa - 0.0862*rh*(1-share) + 2.966*share + 5.75*(1-share) + 8.84e-4*pa*pa*share
	}
	return 2.966 + 0.69*pa + 8.84e-4*pa*pa
}

func TestCorrection(t *testing.T) {
	t.Parallel()
	w := newFixture(t, quality.Settings{})
	w.around("s", "sensor", 0)
	w.around("r", "reference", 0)
	var r readings
	raws := []float64{0, 10, 29.9, 30, 40, 50, 100, 209, 210, 230, 260, 400, 900}
	for i, raw := range raws {
		at := start.Add(time.Duration(i) * time.Hour)
		for _, station := range []string{"s", "r"} {
			r.add(station, "pm25", at, 60, raw)
			r.add(station, "humidity", at, 60, float64(95-5*i))
		}
	}
	r.add("s", "pm25_a", start, 60, 10)
	r.add("s", "pm25_b", start, 60, 30)
	r.add("s", "pm25", start.Add(-time.Hour), 60, 10) // without humidity
	w.store(&r)
	for range 2 {
		if err := w.tester.Correct(t.Context(), []string{"s", "r"}, start.Add(-time.Hour), start.Add(20*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	for i, raw := range raws {
		var got float64
		var formula, channels string
		err := w.db.Conn().QueryRow(t.Context(), fmt.Sprintf("SELECT corrected, concat(formula, toString(version)), toString(channels) FROM %s.corrected FINAL WHERE at = ?", w.name),
			start.Add(time.Duration(i)*time.Hour)).Scan(&got, &formula, &channels)
		wantChannels := map[bool]string{true: "differ", false: "unknown"}[i == 0]
		switch want := max(0, epa2021(raw, float64(95-5*i))); {
		case err != nil:
			t.Errorf("%v: %v", raw, err)
		case math.Abs(got-want) > 1e-4:
			t.Errorf("%v: %v by %s, channels %s (%v), want %v, channels %s", raw, got, formula, channels, err, want, wantChannels)
		case formula != "epa_20211":
			t.Errorf("%v: formula = %q, want \"epa_20211\"", raw, formula)
		case channels != wantChannels:
			t.Errorf("%v: channels = %v, want %v", raw, channels, wantChannels)
		}
	}
	if n := w.count("SELECT count() FROM %s.corrected"); n != uint64(len(raws)) {
		t.Errorf("%d rows, want %d: only the sensor's, each once", n, len(raws))
	}
}

func TestColocation(t *testing.T) {
	t.Parallel()
	w := newFixture(t, quality.Settings{Colocated: map[string]string{"hand": "r"}})
	w.around("s", "sensor", 0)
	w.around("r", "reference", 0.5)
	w.around("r2", "reference", 0.9)
	w.around("far", "sensor", 5)
	w.exec("INSERT INTO %s.station (id, kind) VALUES ('hand', 'sensor')")
	var r readings
	for i := range 100 {
		at := start.Add(time.Duration(i) * time.Hour)
		raw, rh := wave(i, 100), float64(30+i*13%60)
		reference := 0.5*raw - 0.2*rh + 7
		if i == 50 {
			reference = 9000 // fails, and is excluded
		}
		r.add("r", "pm25", at, 60, reference)
		for _, sensor := range []string{"s", "far", "hand"} {
			r.add(sensor, "pm25", at, 60, raw)
			r.add(sensor, "humidity", at, 60, rh)
		}
	}
	w.store(&r)
	to := start.Add(100 * time.Hour)
	w.run(start, to, "r")
	if err := w.tester.Colocate(t.Context(), start, to); err != nil {
		t.Fatal(err)
	}
	for sensor, metres := range map[string]float64{"s": 500, "hand": math.NaN()} {
		var reference string
		var hours uint32
		var got [6]float64
		err := w.db.Conn().QueryRow(t.Context(), fmt.Sprintf("SELECT reference, hours, slope, humidity, intercept, error, r2, distance_m FROM %s.colocation FINAL WHERE sensor = ?", w.name), sensor).
			Scan(&reference, &hours, &got[0], &got[1], &got[2], &got[3], &got[4], &got[5])
		if err != nil || reference != "r" || hours != 99 {
			t.Fatalf("%s: %v, beside %s in %d hours", sensor, err, reference, hours)
		}
		for i, want := range []float64{0.5, -0.2, 7, 0, 1} {
			if math.Abs(got[i]-want) > 1e-6 {
				t.Errorf("%s: slope, humidity, intercept, error, r2 are %v, want 0.5, -0.2, 7, 0, 1", sensor, got)
				break
			}
		}
		if math.IsNaN(metres) != math.IsNaN(got[5]) || math.Abs(got[5]-metres) > 5 {
			t.Errorf("%s: distance %v, want %v", sensor, got[5], metres)
		}
	}
	if n := w.count("SELECT count() FROM %s.colocation FINAL"); n != 2 {
		t.Errorf("%d fits, want 2", n)
	}
}
