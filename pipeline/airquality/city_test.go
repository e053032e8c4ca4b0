package airquality

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/columnstore/migration"
	"vayu/schema/air"
)

// member is a test station with its AQIs by hour; 0 is an hour without an AQI.
type member struct {
	id, city, kind, sameAs string
	priority               int
	hours                  map[int]int
}

func (m *member) physical() string {
	if m.sameAs != "" {
		return m.sameAs
	}
	return m.id
}

// members stores stations and their hours, as if they had been computed.
func (w *fixture) members(all []member) {
	w.Helper()
	var stations, hours []string
	for _, m := range all {
		city := strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(m.city)
		stations = append(stations, fmt.Sprintf("('%s', '%[1]s', '%s', 'Kerala', '%s', '%s', %d)", m.id, city, m.kind, m.sameAs, m.priority))
		for h, aqi := range m.hours {
			value, dominant := "NULL", "none"
			if aqi > 0 {
				value, dominant = fmt.Sprint(aqi), "pm25"
			}
			hours = append(hours, fmt.Sprintf("('%s', %d, %s, '%s', %[2]d)", m.id, hour(h).Unix(), value, dominant))
		}
	}
	w.exec("INSERT INTO %s.station (id, name, city, state, kind, same_as, priority) VALUES " + strings.Join(stations, ","))
	w.exec("INSERT INTO %s.station_hour (station, at, aqi, dominant, updated) VALUES " + strings.Join(hours, ","))
}

// compute runs the statements of cities.
func (w *fixture) compute(c chunk) {
	w.Helper()
	c.citiesOnly = true
	started, err := w.rollup.serverTime(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	if err := w.rollup.compute(w.Context(), c, started); err != nil {
		w.Fatal(err)
	}
}

func (w *fixture) kinds(kinds ...air.StationKind) {
	w.Helper()
	rollup, err := New(Config{Conn: w.db.Conn(), Tables: migration.Params{Database: w.name}, Kinds: kinds, Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry()})
	if err != nil {
		w.Fatal(err)
	}
	w.rollup = rollup
}

const cityHours = `SELECT concat(city, ' ', toString(dateDiff('hour', toDateTime('2025-03-09 18:30:00', 'UTC'), at)), ' ', toString(aqi), ' ',
	toString(stations_used), '/', toString(stations_total)) FROM %s.city_hour FINAL ORDER BY city, at`

const cityDays = `SELECT concat(city, ' ', toString(day), ' ', toString(dateDiff('hour', toDateTime('2025-03-09 18:30:00', 'UTC'), at)), ' ',
	toString(aqi)) FROM %s.city_day FINAL ORDER BY city, day`

func same(aqi int, hours ...int) map[int]int {
	all := make(map[int]int, len(hours))
	for _, h := range hours {
		all[h] = aqi
	}
	return all
}

func upTo(first, last int) (all []int) {
	for h := first; h <= last; h++ {
		all = append(all, h)
	}
	return all
}

func TestOnlyConfiguredKindsCountForACity(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.members([]member{
		{id: "reference", city: "Surat", kind: "reference", hours: same(70, 1)},
		{id: "sensor", city: "Surat", kind: "sensor", hours: same(392, 1, 2)},
	})
	day := chunk{from: hour(1), to: hour(24), stations: []string{"sensor"}}
	w.compute(day)
	if diff := cmp.Diff([]string{"Surat 1 70 1/1"}, w.text(cityHours)); diff != "" {
		t.Errorf("reference stations (-want +got):\n%s", diff)
	}
	w.kinds(air.Reference, air.Sensor)
	w.compute(day)
	if diff := cmp.Diff([]string{"Surat 1 231 2/2", "Surat 2 392 1/1"}, w.text(cityHours)); diff != "" {
		t.Errorf("with sensors (-want +got):\n%s", diff)
	}
}

func TestPhysicalStationCountsOnce(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.members([]member{
		{id: "cpcb-a", city: "Delhi", kind: "reference", priority: 30, hours: map[int]int{1: 100, 2: 0, 4: 0}},
		{id: "openaq-a", city: "Delhi", kind: "reference", priority: 10, sameAs: "cpcb-a", hours: map[int]int{1: 300, 2: 300, 3: 300, 4: 0}},
		{id: "cpcb-b", city: "Delhi", kind: "reference", priority: 30, hours: same(200, 1, 2, 3, 4)},
		{id: "cpcb-old", city: "Delhi", kind: "reference", priority: 30, hours: same(500, 1)},
	})
	w.exec("INSERT INTO %s.station_alias (alias, station) VALUES ('cpcb-old', 'cpcb-b')")
	w.compute(chunk{from: hour(1), to: hour(24), stations: []string{"openaq-a"}})
	want := []string{"Delhi 1 150 2/2", "Delhi 2 250 2/2", "Delhi 3 250 2/2", "Delhi 4 200 1/2"}
	if diff := cmp.Diff(want, w.text(cityHours)); diff != "" {
		t.Errorf("hours (-want +got):\n%s", diff)
	}
}

func TestHourOfFewStationsDoesNotStandForTheDay(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	all := []member{
		{id: "late", city: "Ten", kind: "reference", hours: same(480, 24)},
		{id: "mean", city: "Three", kind: "city_mean", hours: same(50, 24)},
		{id: "daily", city: "Daily", kind: "city_mean", hours: same(60, 24, 48)},
		{id: "other", city: "Alone", kind: "reference", hours: same(90, 24)},
	}
	for i := range 10 {
		all = append(all, member{id: fmt.Sprint("ten-", i), city: "Ten", kind: "reference", hours: same(100, upTo(1, 23)...)})
	}
	for i := range 3 {
		all = append(all, member{id: fmt.Sprint("three-", i), city: "Three", kind: "reference", hours: same(200, 22)})
	}
	w.members(all)
	w.compute(chunk{from: hour(1), to: hour(48), stations: []string{"late", "mean", "daily", "other"}})
	want := []string{
		"Alone 2025-03-10 24 90",
		"Daily 2025-03-10 24 60", "Daily 2025-03-11 48 60",
		"Ten 2025-03-10 23 100",
		"Three 2025-03-10 22 200",
	}
	if diff := cmp.Diff(want, w.text(cityDays)); diff != "" {
		t.Errorf("days (-want +got):\n%s", diff)
	}
}

// Cities given by name are computed, such as one that a station has left.
func TestNamedCitiesAreComputed(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.members([]member{
		{id: "a", city: "L'Aquila \\ Nagar", kind: "reference", hours: same(100, 1)},
		{id: "b", city: "Elsewhere", kind: "reference", hours: same(100, 1)},
	})
	w.compute(chunk{from: hour(1), to: hour(24), cities: [][2]string{{"L'Aquila \\ Nagar", "Kerala"}, {"Nowhere", "Kerala"}}})
	if diff := cmp.Diff([]string{`L'Aquila \ Nagar 1 100 1/1`}, w.text(cityHours)); diff != "" {
		t.Errorf("hours (-want +got):\n%s", diff)
	}
}

// Random cities and their days follow the rule.
func TestRandomCitiesFollowTheRule(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	random := rand.New(rand.NewPCG(5, 14))
	var all []member
	for i := range 60 {
		m := member{
			id: fmt.Sprintf("s%02d", i), city: fmt.Sprintf("City %02d", i/6), priority: 10 * (1 + random.IntN(3)),
			kind: []string{"reference", "reference", "reference", "sensor", "city_mean"}[random.IntN(5)], hours: map[int]int{},
		}
		if before := i - 1; m.kind == "reference" && i%6 > 0 && all[before].kind == "reference" && all[before].city == m.city && random.IntN(2) == 0 {
			m.sameAs = all[before].physical()
		}
		first, last := random.IntN(30), 20+random.IntN(52)
		for h := first; h <= last; h++ {
			if random.IntN(4) > 0 {
				m.hours[h] = random.IntN(6) * (40 + random.IntN(60))
			}
		}
		all = append(all, m)
	}
	w.members(all)
	var ids []string
	for _, m := range all {
		ids = append(ids, m.id)
	}
	w.compute(chunk{from: hour(1), to: hour(72), stations: ids})
	hours, days := expectedCities(all, 72)
	if diff := cmp.Diff(hours, w.text(cityHours)); diff != "" {
		t.Errorf("hours (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(days, w.text(cityDays)); diff != "" {
		t.Errorf("days (-want +got):\n%s", diff)
	}
}

// expectedCities computes cities one by one in plain Go.
func expectedCities(all []member, last int) (hours, days []string) {
	cities := map[string][]member{}
	for _, m := range all {
		if m.kind != "sensor" {
			cities[m.city] = append(cities[m.city], m)
		}
	}
	names := make([]string, 0, len(cities))
	for name := range cities {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		type stand struct {
			aqi      int
			stations map[string]bool
		}
		standing := map[int]stand{}
		for h := 1; h <= last; h++ {
			chosen := map[string]member{}
			for _, m := range cities[name] {
				if _, reported := m.hours[h]; !reported {
					continue
				}
				if old, ok := chosen[m.physical()]; !ok || better(m, old, h) {
					chosen[m.physical()] = m
				}
			}
			measured := slices.ContainsFunc(cities[name], func(m member) bool { return m.kind == "reference" && m.hours[h] > 0 })
			sum, used, total := 0, 0, 0
			stations := map[string]bool{}
			for physical, m := range chosen {
				if measured && m.kind == "city_mean" {
					continue
				}
				total++
				if aqi := m.hours[h]; aqi > 0 {
					sum, used = sum+aqi, used+1
					if measured {
						stations[physical] = true
					}
				}
			}
			if used > 0 {
				standing[h] = stand{(2*sum + used) / (2 * used), stations}
				hours = append(hours, fmt.Sprintf("%s %d %d %d/%d", name, h, standing[h].aqi, used, total))
			}
		}
		for day := range last / 24 {
			best, bestRank := -1, -1
			for h := day*24 + 1; h <= day*24+24; h++ {
				now, ok := standing[h]
				if !ok {
					continue
				}
				rank := 0
				if len(now.stations) > 0 {
					rank = 2
				}
				before, found := stand{}, false
				for b := h - 1; b >= h-24 && !found; b-- {
					before, found = standing[b]
					found = found && len(before.stations) > 0 == (len(now.stations) > 0)
				}
				kept := 0
				for s := range before.stations {
					if now.stations[s] {
						kept++
					}
				}
				if !found || 2*kept >= len(before.stations) {
					rank++
				}
				if rank >= bestRank {
					best, bestRank = h, rank
				}
			}
			if best >= 0 {
				days = append(days, fmt.Sprintf("%s %s %d %d", name, hour(0).AddDate(0, 0, day).Add(24*time.Hour).Format(time.DateOnly), best, standing[best].aqi))
			}
		}
	}
	return hours, days
}

// better reports whether of two ids of one physical station a counts in an hour.
func better(a, b member, h int) bool {
	if (a.hours[h] > 0) != (b.hours[h] > 0) {
		return a.hours[h] > 0
	}
	if a.priority != b.priority {
		return a.priority > b.priority
	}
	return a.id < b.id
}
