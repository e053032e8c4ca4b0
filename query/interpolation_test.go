package query_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"
	"time"

	"vayu/query/places"
	"vayu/schema"
	"vayu/schema/air"
)

func TestStaleStationDoesNotHideFreshOnes(t *testing.T) {
	t.Parallel()
	for name, ended := range map[string]time.Duration{"years ago": 5 * 365 * 24 * time.Hour, "two days ago": 48 * time.Hour, "four hours ago": 4 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			w.station(t, w.live, "dead", "Delhi", "Delhi", 28.6, 77.2, figureAt(hour.Add(-ended), 40))
			w.station(t, w.live, "living", "Gurugram", "Haryana", 28.45, 76.9, figureAt(hour, 362))
			w.rollup(t, w.live, hour.Add(-ended))
			run(t, w)
			for _, query := range []string{"lat=28.6&lon=77.2", "pincode=110001", "lat=28.6&lon=77.2&date=2026-11-20"} {
				_, _, body := w.get(t, "/v1/aqi?"+query)
				if r := record(t, body); r.AQI != 362 {
					t.Errorf("%s: %s", query, body)
				}
			}
		})
	}
}

// Answers are at most 3 h older than the newest station in reach. They equal those
// of a search through all stations.
func TestPositionsOverRandomStations(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(14, 3))
	w := newFixture(t)
	type place struct {
		at   places.Point
		kind air.StationKind
		hour time.Time
		aqi  int
	}
	var all []place
	for range 400 {
		p := place{
			at:   places.Point{Latitude: 20 + 4*random.Float64(), Longitude: 76 + 4*random.Float64()},
			kind: air.StationKind(1 + random.IntN(2)), hour: hour.Add(-time.Duration(random.IntN(8)) * time.Hour), aqi: random.IntN(501),
		}
		if random.IntN(4) == 0 {
			p.hour = hour.AddDate(0, 0, -random.IntN(900))
		}
		all = append(all, p)
	}
	rows, hours := "", ""
	for i, p := range all {
		rows += fmt.Sprintf("('s%d','made','s','','',%v,%v,'%s','Made','none',toDateTime(%d),toDateTime(%[6]d)),", i, p.at.Latitude, p.at.Longitude, p.kind, p.hour.Unix(), p.hour.Unix())
		hours += fmt.Sprintf("('s%d',%s),", i, figureAt(p.hour, p.aqi).columns())
	}
	w.exec(t, fmt.Sprintf("INSERT INTO %s.station (id, source, name, city, state, latitude, longitude, kind, attribution, licence, first_seen, last_seen) VALUES %s", w.live, rows[:len(rows)-1]))
	w.exec(t, fmt.Sprintf("INSERT INTO %s.station_hour (station,%s) VALUES %s", w.live, figureColumns, hours[:len(hours)-1]))
	w.station(t, w.live, "far", "Port Blair", "Andaman and Nicobar Islands", 11.66, 92.74, figureAt(hour, 40))
	w.rollup(t, w.live, hour.AddDate(-3, 0, 0))
	w.serve(t)
	w.refresh(t)
	for range 300 {
		p := places.Point{Latitude: 19.5 + 5*random.Float64(), Longitude: 75.5 + 5*random.Float64()}
		for _, kinds := range []string{"reference", "sensor", "reference,sensor"} {
			var newest time.Time
			var reach []int
			for i, s := range all {
				if (kinds == "reference,sensor" || kinds == s.kind.String()) && places.Distance(p, s.at) <= 100 {
					reach = append(reach, i)
					if s.hour.After(newest) {
						newest = s.hour
					}
				}
			}
			path := fmt.Sprintf("/v1/aqi?view=detail&kinds=%s&lat=%.6f&lon=%.6f", kinds, p.Latitude, p.Longitude)
			status, _, body := w.get(t, path)
			if len(reach) == 0 {
				if status != http.StatusNotFound {
					t.Errorf("%s: %s", path, body)
				}
				continue
			}
			reach = slices.DeleteFunc(reach, func(i int) bool { return all[i].hour.Before(newest.Add(-3 * time.Hour)) })
			slices.SortFunc(reach, func(a, b int) int {
				return int(1e6 * (places.Distance(p, all[a].at) - places.Distance(p, all[b].at)))
			})
			want := 1
			for want < len(reach) && places.Distance(p, all[reach[want]].at) <= 25 {
				want++
			}
			var got struct {
				air.Record
				air.Detail
			}
			if status != http.StatusOK {
				t.Fatalf("%s: %d %s", path, status, body)
			}
			decode(t, body, &got)
			var used, expected []string
			for _, st := range got.Stations {
				used = append(used, st.ID)
			}
			for _, i := range reach[:want] {
				expected = append(expected, fmt.Sprint("s", i))
			}
			if got.Updated.Before(newest.Add(-3*time.Hour)) || fmt.Sprint(used) != fmt.Sprint(expected) {
				t.Errorf("%s: %v of %s, want %v, newest %s", path, used, got.Updated, expected, newest)
			}
		}
	}
}

// Positions on any meridian or near a pole are valid.
func TestPositionsAtTheEdges(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.station(t, w.live, "west", "", "", -16.5, -179.95, figureAt(hour, 50))
	w.station(t, w.live, "pole", "", "", 89.95, 10, figureAt(hour, 60))
	w.station(t, w.live, "city", "Delhi", "Delhi", 28.6, 77.2, figureAt(hour, 70))
	w.rollup(t, w.live, hour)
	w.serve(t)
	w.refresh(t)
	for query, want := range map[string]int{"lat=-16.5&lon=179.95": 50, "lat=-16.5&lon=-180": 50, "lat=90&lon=0": 60, "lat=89.9&lon=-170": 60, "lat=28.6&lon=77.2": 70} {
		_, _, body := w.get(t, "/v1/aqi?"+query)
		if r := record(t, body); r.AQI != want {
			t.Errorf("%s: %s", query, body)
		}
	}
}

func TestPositionAndPinCodeHaveTheSameHistory(t *testing.T) {
	t.Parallel()
	w := india(t)
	run(t, w)
	pins := places.NewPins()
	if err := pins.Load(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	pin, _, err := pins.Find(110001)
	if err != nil {
		t.Fatal(err)
	}
	for _, span := range []string{
		"date=2026-11-20", "date=2026-11-10", "from=2026-11-18&to=2026-11-20", "from=2026-11-18&to=2026-11-20&interval=day",
		"from=2026-11-20&to=2026-11-20&interval=hour",
	} {
		_, _, byPin := w.get(t, "/v1/aqi?pincode=110001&"+span)
		status, _, byPosition := w.get(t, fmt.Sprintf("/v1/aqi?lat=%v&lon=%v&%s", pin.Position.Latitude, pin.Position.Longitude, span))
		if status != http.StatusOK || byPin != byPosition {
			t.Errorf("%s: %d %s, by pin code %s", span, status, byPosition, byPin)
		}
	}
	status, h, body := w.get(t, "/v1/aqi?lat=28.6&lon=77.2&date=2018-11-08")
	checkProblem(t, status, h, body, schema.NoData, "date")
}

func TestExplicitDefaultsChangeNothing(t *testing.T) {
	t.Parallel()
	w := india(t)
	for plain, sent := range map[string]string{
		"/v1/aqi?city=Delhi":                 "/v1/aqi?city=Delhi&interval=day&kinds=reference",
		"/v1/aqi?cities=Delhi,Pune":          "/v1/aqi?cities=Delhi,Pune&interval=day&kinds=reference",
		"/v1/aqi?city=Delhi&date=2026-11-18": "/v1/aqi?city=Delhi&date=2026-11-18&interval=day",
		"/v1/aqi?lat=28.6&lon=77.2":          "/v1/aqi?lat=28.6&lon=77.2&interval=day",
		"/v1/stations":                       "/v1/stations?radius_km=25",
		"/v1/cities":                         "/v1/cities?limit=100",
	} {
		_, _, want := w.get(t, plain)
		if status, _, got := w.get(t, sent); status != http.StatusOK || got != want {
			t.Errorf("%s: %d %s, want %s", sent, status, got, want)
		}
	}
}

func TestRepliesCarryTheAge(t *testing.T) {
	t.Parallel()
	w := india(t)
	var at clock
	run(t, w, at.on)
	for _, c := range []struct {
		query, age string
		after      time.Duration
		stale      string
	}{
		{"city=Delhi", "0", 0, ""}, {"city=Delhi", "0", -time.Minute, ""}, {"city=Delhi", "10800", 3 * time.Hour, ""}, {"city=Delhi", "10801", 3*time.Hour + time.Second, "true"},
		{"city=Delhi&view=detail", "10801", 3*time.Hour + time.Second, "true"}, {"pincode=110001", "60", time.Minute, ""}, {"pincode=110001&view=detail", "60", time.Minute, ""},
		{"lat=28.6&lon=77.2", "60", time.Minute, ""}, {"lat=28.6&lon=77.2&view=detail&kinds=reference,sensor", "60", time.Minute, ""},
		{"city=Delhi&kinds=reference,sensor", "60", time.Minute, ""}, {"cities=Delhi,Atlantis,Kanpur", "180060", time.Minute, "true"}, {"cities=Delhi,Pune", "60", time.Minute, ""},
		{"city=Delhi&max_age=60", "60", time.Minute, ""}, {"cities=Delhi,Kanpur&max_age=60", "60", time.Minute, ""},
		{"city=Delhi&date=2026-11-18", "", time.Minute, ""}, {"cities=Delhi,Pune&date=2026-11-18", "", time.Minute, ""},
	} {
		t.Run(c.query+" after "+c.after.String(), func(t *testing.T) {
			at.set(hour.Add(c.after))
			status, h, body := w.get(t, "/v1/aqi?"+c.query)
			if status != http.StatusOK || h.Get("X-SERVICE-Data-Age") != c.age || h.Get("X-SERVICE-Stale") != c.stale {
				t.Errorf("%d, age %q, stale %q; want 200, %q, %q: %s", status, h.Get("X-SERVICE-Data-Age"), h.Get("X-SERVICE-Stale"), c.age, c.stale, body)
			}
			if status, again, _ := w.get(t, "/v1/aqi?"+c.query, "If-None-Match", h.Get("ETag")); status != http.StatusNotModified || again.Get("X-SERVICE-Data-Age") != c.age {
				t.Errorf("%d with the age %q for the ETag, want 304 with %q", status, again.Get("X-SERVICE-Data-Age"), c.age)
			}
		})
	}
	at.set(hour.Add(61 * time.Second))
	for _, query := range []string{"city=Delhi", "city=Delhi&view=detail", "pincode=110001", "lat=28.6&lon=77.2", "city=Delhi&kinds=reference,sensor"} {
		status, h, body := w.get(t, "/v1/aqi?max_age=60&"+query)
		checkProblem(t, status, h, body, schema.NoCurrentData, "max_age")
	}
	var got struct {
		Results []struct {
			Status, City string
			Error        *schema.Problem
		}
	}
	h, body := w.getInto(t, "/v1/aqi?max_age=61&cities=Delhi,Kanpur", &got)
	if age := h.Get("X-SERVICE-Data-Age"); age != "61" {
		t.Errorf("bulk: an age of %s s, want 61", age)
	}
	if len(got.Results) != 2 {
		t.Fatalf("bulk: %d results, want 2: %s", len(got.Results), body)
	}
	if err := got.Results[0].Error; err != nil {
		t.Errorf("bulk: got %v for Delhi: %s", err, body)
	}
	if err := got.Results[1].Error; err == nil {
		t.Errorf("bulk: no error for Kanpur: %s", body)
	} else if err.Code != schema.NoCurrentData {
		t.Errorf("bulk: got %s for Kanpur, want %s: %s", err.Code, schema.NoCurrentData, body)
	}
}
