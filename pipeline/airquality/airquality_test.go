package airquality

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/schema"
	"vayu/schema/air"
	"vayu/schema/naqi"
)

// series holds hourly values by hour number; hours without a reading are absent.
type series map[int]float64

// expected computes a station's hours directly from the rule, without optimization.
func expected(station string, all map[air.Pollutant]series, hours int) []figure {
	mean := func(s series, from, to int) (sum float64, n int) {
		for h := from; h <= to; h++ {
			if v, ok := s[h]; ok {
				sum, n = sum+v, n+1
			}
		}
		return sum / float64(n), n
	}
	var out []figure
	for h := range hours {
		f := figure{Station: station, At: hour(h), LastUpdate: hour(h), Dominant: "none"}
		present := false
		subs := naqi.None()
		for i, p := range air.Pollutants {
			s := all[p]
			if _, ok := s[h]; ok {
				present = true
			}
			conc, n := mean(s, h-23, h)
			if n < naqi.MinHours {
				continue
			}
			if p == air.CO || p == air.O3 {
				conc = -1
				for end := h - 23; end <= h; end++ {
					if _, ok := anyPollutant(all, end); !ok {
						continue // a rolling mean exists only in the station's hours
					}
					if eight, n := mean(s, end-7, end); n >= naqi.MinHoursOf8 {
						conc = math.Max(conc, eight)
					}
				}
				if conc < 0 {
					continue
				}
			}
			conc = float64((int64(math.Floor(conc*1e6+0.5))+50)/100) / 10000
			index, _ := naqi.SubIndex(p, conc)
			subs[p] = index
			short := uint16(index)
			f.Conc[i], f.Index[i] = &conc, &short
		}
		if !present {
			continue
		}
		if aqi, _, ok := naqi.Index(subs); ok {
			short := uint16(aqi)
			f.AQI = &short
			most := -1.0
			for _, p := range naqi.Precedence {
				if conc := f.Conc[p-1]; conc != nil && naqi.Lead(p, *conc) > most {
					most, f.Dominant = naqi.Lead(p, *conc), p.String()
				}
			}
		}
		out = append(out, f)
	}
	return out
}

func anyPollutant(all map[air.Pollutant]series, h int) (float64, bool) {
	for _, s := range all {
		if v, ok := s[h]; ok {
			return v, true
		}
	}
	return 0, false
}

// randomSeries returns a station's series with gaps, the same for the same seed.
func randomSeries(seed uint64, hours int) map[air.Pollutant]series {
	random := rand.New(rand.NewPCG(seed, 1))
	all := make(map[air.Pollutant]series)
	for _, p := range air.Pollutants[:7] {
		s := make(series)
		top, _ := naqi.Inverse(p, 320)
		for h := range hours {
			if random.Float64() < 0.75 {
				s[h] = math.Floor(random.Float64()*top*100) / 100
			}
		}
		all[p] = s
	}
	return all
}

func readingsOf(station string, all map[air.Pollutant]series) []air.Reading {
	var out []air.Reading
	for _, p := range air.Pollutants {
		for h, v := range all[p] {
			out = append(out, air.Reading{Station: station, Parameter: p.Parameter(), At: hour(h), Value: v})
		}
	}
	return out
}

func TestRollingFiguresFollowTheRule(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	var want []figure
	for i := range 3 {
		id := fmt.Sprintf("station-%d", i)
		w.station(id, "Pune", "Maharashtra")
		all := randomSeries(uint64(i), 80)
		w.readings(readingsOf(id, all)...)
		want = append(want, expected(id, all, 80)...)
	}
	w.increment()
	if diff := cmp.Diff(want, w.stationHours()); diff != "" {
		t.Errorf("hours of stations (-want +got):\n%s", diff)
	}
}

func TestPublishedSubIndexIsTheAQI(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.station("s", "Delhi", "Delhi")
	for p, v := range map[air.Pollutant]float64{air.PM25: 232, air.PM10: 174, air.CO: 28} {
		w.readings(air.Reading{Station: "s", Parameter: p.Parameter(), At: hour(5).Add(-30 * time.Minute), Value: v, Kind: air.SubIndex})
	}
	w.increment()
	got := w.stationHours()
	if len(got) != 1 {
		t.Fatalf("%d hours, want the one that has readings", len(got))
	}
	f := got[0]
	switch {
	case *f.AQI != 232:
		t.Errorf("*f.AQI = %v, want 232", *f.AQI)
	case f.Dominant != "pm25":
		t.Errorf("f.Dominant = %q, want \"pm25\"", f.Dominant)
	case *f.Conc[0] != 99.6:
		t.Errorf("*f.Conc[0] = %v, want 99.6", *f.Conc[0])
	case *f.Conc[4] != 0.56:
		t.Errorf("*f.Conc[4] = %v, want 0.56", *f.Conc[4])
	case f.Derived != 0b10011:
		t.Errorf("f.Derived = %v, want 0b10011", f.Derived)
	}
	if !f.At.Equal(hour(5)) || !f.LastUpdate.Equal(hour(5).Add(-30*time.Minute)) {
		t.Errorf("hour %v updated %v, want the full Indian hour and the reading's own time", f.At, f.LastUpdate)
	}
}

func TestDailyMeansMakeTheirDayDirectly(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.station("s", "Chennai", "Tamil Nadu")
	for p, v := range map[air.Pollutant]float64{air.PM25: 45, air.NO2: 20, air.O3: 30} {
		w.readings(air.Reading{Station: "s", Parameter: p.Parameter(), At: hour(24), Value: v, Averaging: air.Daily})
	}
	w.increment()
	got := w.text(`SELECT concat(toString(day), ' ', toString(aqi), ' ', toString(dominant), ' ', toString(daily_mean)) FROM %s.city_day FINAL`)
	if diff := cmp.Diff([]string{"2025-03-10 75 pm25 32"}, got); diff != "" {
		t.Errorf("the day (-want +got):\n%s", diff)
	}
}

func TestFourHourMeansCoverTheirHours(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.station("s", "Delhi", "Delhi")
	for h := 4; h <= 24; h += 4 {
		for _, p := range []air.Pollutant{air.PM25, air.PM10, air.NO2} {
			w.readings(air.Reading{Station: "s", Parameter: p.Parameter(), At: hour(h), Value: float64(h), Averaging: 240})
		}
	}
	w.increment()
	hours := w.stationHours()
	if len(hours) != 24 {
		t.Fatalf("%d hours are covered, want 24", len(hours))
	}
	for i, f := range hours {
		if (f.AQI != nil) != (i+1 >= naqi.MinHours) {
			t.Errorf("hour %d: has an AQI: %v", i+1, f.AQI != nil)
		}
	}
	if got := *hours[23].Conc[0]; got != 14 {
		t.Errorf("mean of the day is %v, want 14", got)
	}
}

func TestCityIsTheMeanOfItsStations(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	for id, subs := range map[string][3]float64{"a": {100, 60, 40}, "b": {51, 90, 41}, "c": {200, 0, 0}} {
		w.station(id, "Nashik", "Maharashtra")
		for i, p := range []air.Pollutant{air.PM25, air.PM10, air.NO2} {
			if subs[i] > 0 {
				w.readings(air.Reading{Station: id, Parameter: p.Parameter(), At: hour(7), Value: subs[i], Kind: air.SubIndex})
			}
		}
	}
	w.increment()
	// c has one pollutant and so no AQI; (100+90)/2 = 95; mean sub-indices 75.5, 75, 40.5.
	got := w.text(`SELECT concat(toString(aqi), ' ', toString(dominant), ' ', toString(pm25_index), ' ', toString(pm10_index), ' ',
		toString(no2_index), ' ', toString(stations_used), '/', toString(stations_total)) FROM %s.city_hour FINAL`)
	if diff := cmp.Diff([]string{"95 pm25 76 75 41 2/3"}, got); diff != "" {
		t.Errorf("the city (-want +got):\n%s", diff)
	}
}

// A city mean series does not count as another station. It represents the city if
// no station has figures.
func TestCityMeanSeriesIsNotAnotherStation(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.station("a", "Chennai", "Tamil Nadu")
	w.exec("INSERT INTO %s.station (id, name, city, state, kind) VALUES ('mean', 'Chennai', 'Chennai', 'Tamil Nadu', 'city_mean')")
	for i, p := range []air.Pollutant{air.PM25, air.PM10, air.NO2} {
		w.readings(
			air.Reading{Station: "a", Parameter: p.Parameter(), At: hour(1), Value: 80 - float64(i), Kind: air.SubIndex},
			air.Reading{Station: "mean", Parameter: p.Parameter(), At: hour(1), Value: 40, Kind: air.SubIndex},
			air.Reading{Station: "mean", Parameter: p.Parameter(), At: hour(2), Value: 41, Kind: air.SubIndex})
	}
	w.increment()
	got := w.text("SELECT concat(toString(aqi), ' of ', toString(stations_total)) FROM %s.city_hour FINAL ORDER BY at")
	if diff := cmp.Diff([]string{"80 of 1", "41 of 1"}, got); diff != "" {
		t.Errorf("the city (-want +got):\n%s", diff)
	}
}

// On the worst days several pollutants exceed the scale.
func TestDominantPollutantBeyondTheScale(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.station("s", "Delhi", "Delhi")
	for p, v := range map[air.Pollutant]float64{air.PM25: 420.3, air.PM10: 515, air.NO2: 60} {
		w.readings(air.Reading{Station: "s", Parameter: p.Parameter(), At: hour(24), Value: v, Averaging: air.Daily})
	}
	w.increment()
	for table, want := range map[string]string{"station_hour": "500 pm25", "city_day": "500 pm25"} {
		got := w.text("SELECT concat(toString(aqi), ' ', toString(dominant)) FROM %s." + table + " FINAL")
		if diff := cmp.Diff([]string{want}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", table, diff)
		}
	}
}

func TestDayIsItsLastHourThatQualifies(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.station("s", "Pune", "Maharashtra")
	at := func(h int, values ...float64) {
		for i, v := range values {
			w.readings(air.Reading{Station: "s", Parameter: air.Pollutants[i].Parameter(), At: hour(h), Value: v, Kind: air.SubIndex})
		}
	}
	at(3, 10, 20, 30)
	at(9, 40, 50, 60)
	at(20, 70, 80) // two pollutants: no AQI
	at(24, 90)     // 24:00 belongs to the day it ends
	at(25, 11, 12, 13)
	w.increment()
	got := w.text(`SELECT concat(toString(day), ' ', toString(aqi)) FROM %s.city_day FINAL ORDER BY day`)
	if diff := cmp.Diff([]string{"2025-03-10 60", "2025-03-11 13"}, got); diff != "" {
		t.Errorf("days (-want +got):\n%s", diff)
	}
}

// Sparse years take one pass, which writes more partitions than the 100 that
// ClickHouse allows by default.
func TestTenSparseYears(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.station("s", "Chennai", "Tamil Nadu")
	var all []air.Reading
	const months = 120
	for month := range months {
		at := schema.HourEnd(time.Date(2005, time.Month(1+month), 15, 18, 30, 0, 0, time.UTC))
		for _, p := range []air.Pollutant{air.PM25, air.PM10, air.NO2} {
			all = append(all, air.Reading{Station: "s", Parameter: p.Parameter(), At: at, Value: 40, Averaging: air.Daily})
		}
	}
	for part := range slices.Chunk(all, 90) { // the limit applies to the test's inserts, too
		w.readings(part...)
	}
	w.increment()
	if got := w.text("SELECT toString(count()) FROM %s.city_day FINAL"); got[0] != strconv.Itoa(months) {
		t.Errorf("%s days, want %d", got[0], months)
	}
}
