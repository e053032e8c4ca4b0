package query_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/query"
	"vayu/schema"
	"vayu/schema/air"
)

const delhi = `{"status":"success","city":"Delhi","aqi":266,"category":"Poor","pm25":100.26,"pm10":200,"no2":30,"so2":10,"co":1.13,` +
	`"o3":40.5,"dominant":"PM10","updated":"2026-11-20T08:30:00Z"}`

func TestCurrentRecordByEveryNameOfACity(t *testing.T) {
	t.Parallel()
	w := india(t)
	for _, name := range []string{"Delhi", "delhi", " DELHI ", "New Delhi", "new-delhi", "Délhi", "दिल्ली", "नई दिल्ली", "Delhi, Delhi", "D e l h i"} {
		status, _, body := w.get(t, "/v1/aqi?city="+url.QueryEscape(name))
		if status != http.StatusOK || body != delhi {
			t.Errorf("%q: %d %s", name, status, cmp.Diff(delhi, body))
		}
	}
	for name, want := range map[string]string{
		"Poona": "Pune", "Port Blair": "Sri Vijaya Puram", "Cochin": "Kochi", "Aurangabad, Bihar": "Aurangabad, Bihar",
		"aurangabad (maharashtra)": "Aurangabad, Maharashtra", "Chhatrapati Sambhajinagar": "Aurangabad, Maharashtra",
	} {
		_, _, body := w.get(t, "/v1/aqi?city="+url.QueryEscape(name))
		if got := record(t, body).City; got != want {
			t.Errorf("%q gives %q, want %q: %s", name, got, want, body)
		}
	}
}

// dayRecord is a record with its day, "" for current figures.
type dayRecord struct {
	air.Record
	Date string
}

// rangeReply is the reply to a range query.
type rangeReply struct {
	Status, City, From, To, Interval string
	Records                          []dayRecord
}

func record(t testing.TB, body string) dayRecord {
	t.Helper()
	var r dayRecord
	if err := json.Unmarshal([]byte(body), &r); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	if r.Status != schema.Success {
		t.Fatalf("no success: %s", body)
	}
	return r
}

func TestGapsAreFilledFromTheNearestStation(t *testing.T) {
	t.Parallel()
	w := india(t)
	for _, path := range []string{"/v1/aqi?city=Pune", "/v1/aqi?lat=18.51&lon=73.83", "/v1/aqi?city=Pune&from=2026-11-20&to=2026-11-20&interval=hour"} {
		_, _, body := w.get(t, path)
		// Lonavala, 50 km away, measured SO2 five hours before; no station has O3.
		if !strings.Contains(body, `"so2":7.5,`) || !strings.Contains(body, `"o3":null,`) {
			t.Errorf("%s: %s", path, body)
		}
	}
	var d struct {
		air.Record
		air.Detail
	}
	_, _, body := w.get(t, "/v1/aqi?city=Pune&view=detail")
	if err := json.Unmarshal([]byte(body), &d); err != nil {
		t.Fatal(err)
	}
	zero := schema.Figure(0)
	aqi := 95
	want := air.Detail{
		State: "Maharashtra", SubIndices: map[string]int{"pm25": 60, "pm10": 90, "no2": 20, "co": 0},
		Units:        map[string]string{"pm25": "µg/m³", "pm10": "µg/m³", "no2": "µg/m³", "so2": "µg/m³", "co": "mg/m³", "o3": "µg/m³"},
		Averaging:    map[string]string{"pm25": "24h", "pm10": "24h", "no2": "24h", "so2": "24h", "co": "8h", "o3": "8h"},
		Stations:     []air.StationFigure{{ID: "cpcb-karve-road", Name: "cpcb-karve-road name", Kind: "reference", AQI: &aqi, DistanceKM: &zero, Updated: hour}},
		StationsUsed: 1, StationsTotal: 1, Estimated: []string{"so2"},
		CategoryName: "Satisfactory", Health: "May cause minor breathing discomfort to sensitive people.",
		Attribution: []string{"CPCB"}, Source: []string{"cpcb"},
	}
	if diff := cmp.Diff(want, d.Detail); diff != "" {
		t.Error(diff)
	}
	if _, _, body := w.get(t, "/v1/aqi?city=Kanpur&view=detail"); !strings.Contains(body, `"stale":true`) {
		t.Errorf("a record of two days ago is not stale: %s", body)
	}
}

func TestCityWithoutStationsIsNotShown(t *testing.T) {
	t.Parallel()
	w := india(t)
	old := figure{at: hour, aqi: 444, amount: [6]float64{1, 2, 3, 4, 5, 6}}
	w.cityHour(t, w.live, "Pune", "", old) // stored before the station's state was known
	w.cityHour(t, w.live, "Byrnihat", "Meghalaya", old)
	dir := t.TempDir()
	check := func() {
		t.Helper()
		_, _, body := w.get(t, "/v1/cities")
		if strings.Count(body, `"city":"Pune"`) != 1 || strings.Count(body, `"city":"Byrnihat"`) != 1 || strings.Contains(body, "444") {
			t.Errorf("cities: %s", body)
		}
		if _, _, body := w.get(t, "/v1/aqi?city=Pune"); record(t, body).City != "Pune" {
			t.Errorf("the name takes a state along: %s", body)
		}
		status, h, body := w.get(t, "/v1/aqi?city=Byrnihat") // and not ambiguous_location
		checkProblem(t, status, h, body, schema.NoData, "city")
	}
	w.serve(t, func(c *query.Config) { c.Directory = dir })
	w.refresh(t)
	check()
	w.serve(t, func(c *query.Config) { c.Directory = dir })
	w.service.Restore()
	check()
}

func TestWorldsDoNotMix(t *testing.T) {
	t.Parallel()
	w := india(t)
	status, h, body := w.do(t, http.MethodGet, "/v1/aqi?city=Delhi", "Authorization", "Bearer "+sandboxKey)
	if status != http.StatusOK || record(t, body).AQI != 111 {
		t.Errorf("got status %d and AQI %d, want 200 and 111: %s", status, record(t, body).AQI, body)
	}
	if got := h.Get("X-Service-Mode"); got != "sandbox" {
		t.Errorf("X-Service-Mode is %q, want sandbox", got)
	}
	status, h, body = w.do(t, http.MethodGet, "/v1/aqi?city=Pune", "Authorization", "Bearer "+sandboxKey)
	checkProblem(t, status, h, body, schema.NoData, "city")
}

func TestPinCodes(t *testing.T) {
	t.Parallel()
	w := india(t)
	run(t, w)
	for pin, want := range map[string]struct {
		city string
		aqi  int
	}{"110001": {"Delhi", 205}, "411004": {"Pune", 95}, "744101": {"Sri Vijaya Puram", 40}} {
		t.Run(pin, func(t *testing.T) {
			for range 2 { // the second is cached in the snapshot
				status, _, body := w.get(t, "/v1/aqi?pincode="+pin)
				if status != http.StatusOK {
					t.Fatalf("%d %s", status, body)
				}
				if r := record(t, body); r.City != want.city || r.AQI != want.aqi {
					t.Errorf("got %s, AQI %d; want %s, %d: %s", r.City, r.AQI, want.city, want.aqi, body)
				}
			}
			_, _, body := w.get(t, "/v1/aqi?view=detail&pincode="+pin)
			if !strings.Contains(body, `"pincode":"`+pin+`","distance_km":`) {
				t.Errorf("the detailed view lacks the distance: %s", body)
			}
		})
	}
	_, _, body := w.get(t, "/v1/aqi?pincode=110001&date=2026-11-20")
	if r := record(t, body); r.City != "Delhi" || r.AQI != 205 || r.Date != "2026-11-20" {
		t.Errorf("history of a pin code: got %s, AQI %d of %s; want Delhi, 205 of 2026-11-20: %s", r.City, r.AQI, r.Date, body)
	}
	_, _, body = w.get(t, "/v1/aqi?pincode=110001&date=2026-11-10")
	if r := record(t, body); r.City != "Delhi" || r.AQI != 110 {
		t.Errorf("a pin code on a day of which only its city is known: got %s, AQI %d; want Delhi, 110: %s", r.City, r.AQI, body)
	}
	var days rangeReply
	_, body = w.getInto(t, "/v1/aqi?pincode=110001&from=2026-11-18&to=2026-11-20", &days)
	if got := days.Records; len(got) != 3 || got[1].AQI != 101 || got[2].AQI != 205 {
		t.Errorf("days of a pin code, some of which only its city has: got %+v, want three, the last with AQI 101 and 205: %s", got, body)
	}
	status, h, body := w.get(t, "/v1/aqi?pincode=110001&date=2018-11-08")
	checkProblem(t, status, h, body, schema.NoData, "date")
	if !strings.Contains(body, "There is no AQI for the pin code 110001 (Delhi) for 2018-11-08.") {
		t.Errorf("the refusal does not name the pin code: %s", body)
	}
	var r rangeReply
	_, body = w.getInto(t, "/v1/aqi?pincode=110001&from=2026-11-20&to=2026-11-20&interval=hour", &r)
	if got := r.Records; len(got) != 2 || got[0].AQI != 190 || got[1].AQI != 205 {
		t.Errorf("hours of a pin code: got %+v, want two with AQI 190 and 205: %s", got, body)
	}
}

func TestPinCodeNearStationWithoutState(t *testing.T) {
	t.Parallel()
	w := india(t)
	w.station(t, w.live, "embassy", "Delhi", "", 28.63, 77.22, figure{at: hour, aqi: 150, amount: [6]float64{1, 2, 3, 4, 5, 6}})
	run(t, w)
	_, _, body := w.get(t, "/v1/aqi?pincode=110001&date=2026-11-10")
	if r := record(t, body); r.City != "Delhi" || r.AQI != 110 {
		t.Errorf("its city's history is that of the city with a state: got %s, AQI %d; want Delhi, 110: %s", r.City, r.AQI, body)
	}
}

func TestOtherQueriesWorkWithoutPinCodes(t *testing.T) {
	t.Parallel()
	w := india(t)
	run(t, w, func(c *query.Config) { c.PinFile = "/nonexistent/pincodes.json.gz" })
	status, h, body := w.get(t, "/v1/aqi?pincode=110001")
	checkProblem(t, status, h, body, schema.ServiceUnavailable, "pincode")
	if status, _, _ := w.get(t, "/v1/aqi?city=Delhi"); status != http.StatusOK {
		t.Errorf("a city is answered with %d", status)
	}
}

func TestBulkKeepsTheOrder(t *testing.T) {
	t.Parallel()
	w := india(t)
	_, _, body := w.get(t, "/v1/aqi?cities="+url.QueryEscape("Delhi, Atlantis,Aurangabad,Bihar,Aurangabad,दिल्ली,Delhi"))
	var got struct {
		Status  string
		Count   int
		Results []struct {
			Status, City string
			Error        *schema.Problem
		}
	}
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, r := range got.Results {
		line := r.Status + " " + r.City
		if r.Error != nil {
			line += " " + string(r.Error.Code) + " " + r.Error.Field
		}
		lines = append(lines, line)
	}
	want := []string{
		"success Delhi", "error Atlantis location_not_found cities", "success Aurangabad, Bihar", "error Aurangabad ambiguous_location cities",
		"success Delhi", "success Delhi",
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("results (-want +got):\n%s%s", diff, body)
	}
	if got.Count != len(want) || got.Status != schema.Success {
		t.Errorf("got %q with count %d, want %q with %d: %s", got.Status, got.Count, schema.Success, len(want), body)
	}
	hundred := strings.TrimSuffix(strings.Repeat("Delhi,", 100), ",")
	status, _, body := w.get(t, "/v1/aqi?cities="+hundred)
	if got := strings.Count(body, delhi); status != http.StatusOK || got != 100 {
		t.Errorf("100 cities: status %d with %d records, want 200 with 100", status, got)
	}
	_, _, body = w.get(t, "/v1/aqi?cities=Delhi,Pune,Kochi&date=2026-11-19")
	if strings.Count(body, `"date":"2026-11-19"`) != 2 || strings.Count(body, `"no_data"`) != 1 || !strings.Contains(body, `"field":"date"`) {
		t.Errorf("bulk for a date: %s", body)
	}
}

func TestCityAndStationLists(t *testing.T) {
	t.Parallel()
	w := india(t)
	var names []string
	for path := "/v1/cities?limit=3"; path != ""; {
		var page schema.List[air.CityEntry]
		_, _, body := w.get(t, path)
		if err := json.Unmarshal([]byte(body), &page); err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		for _, c := range page.Data {
			names = append(names, c.Name)
		}
		if path = ""; page.HasMore {
			path = "/v1/cities?limit=3&cursor=" + *page.NextCursor
		}
	}
	want := []string{"Aurangabad, Bihar", "Aurangabad, Maharashtra", "Byrnihat", "Delhi", "Kanpur", "Kochi", "Pune", "Sri Vijaya Puram"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
	for path, want := range map[string]string{
		"/v1/cities?q=poo":                                "[Pune]",
		"/v1/cities?q=zz":                                 "[]",
		"/v1/stations?near=28.6,77.2":                     "[cpcb-mandir-marg cpcb-anand-vihar]",
		"/v1/stations?near=28.6,77.2&radius_km=5":         "[cpcb-mandir-marg]",
		"/v1/stations?near=28.6,77.2&limit=1&radius_km=9": "[cpcb-mandir-marg]",
		"/v1/stations?near=0,0":                           "[]",
		"/v1/stations?limit=2":                            "[cpcb-anand-vihar cpcb-aurangabad-b]",
	} {
		var page schema.List[struct{ ID, Name string }]
		w.getInto(t, path, &page)
		got := []string{}
		for _, e := range page.Data {
			if e.ID == "" {
				e.ID = e.Name
			}
			got = append(got, e.ID)
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%s: %v, want %s", path, got, want)
		}
	}
	if status, _, body := w.get(t, "/v1/stations/cpcb-karve-road"); status != http.StatusOK || !strings.Contains(body, `"aqi":95,`) {
		t.Errorf("%d %s", status, body)
	}
	for path, field := range map[string]string{
		"/v1/stations?near=28.6": "near", "/v1/stations?near=x,y": "near", "/v1/stations?near=99,1": "near", "/v1/stations?radius_km=3": "radius_km",
		"/v1/stations?near=1,1&radius_km=0": "radius_km", "/v1/stations?near=1,1&radius_km=501": "radius_km", "/v1/stations?limit=0": "limit",
		"/v1/stations?limit=1001": "limit", "/v1/stations?limit=x": "limit", "/v1/stations?cursor=%21": "cursor", "/v1/cities?cursor=xxx": "cursor", "/v1/cities?city=x": "city",
		"/v1/cities?q=": "q", "/v1/cities?q=a&q=b": "q", "/v1/stations/cpcb-karve-road?x=1": "x",
	} {
		status, h, body := w.get(t, path)
		checkProblem(t, status, h, body, schema.InvalidRequest, field)
	}
	status, h, body := w.get(t, "/v1/stations/nobody")
	checkProblem(t, status, h, body, schema.NotFound, "id")
}

// The figures of a list can be years old. Each entry has their age, and a city the days of its readings.
func TestListsHaveTheAgeOfTheirFigures(t *testing.T) {
	t.Parallel()
	w := india(t)
	w.station(t, w.live, "cpcb-old", "Kochi", "Kerala", 9.98, 76.33, figure{at: hour.AddDate(0, 0, -125), aqi: 80})
	w.exec(t, fmt.Sprintf(`INSERT INTO %[1]s.station SELECT * REPLACE (toDateTime('2015-07-09 18:30:00', 'UTC') AS first_seen)
		FROM %[1]s.station WHERE id = 'cpcb-old'`, w.live))
	w.exec(t, fmt.Sprintf("OPTIMIZE TABLE %s.station FINAL", w.live))
	w.rollup(t, w.live, hour)
	w.serve(t)
	w.refresh(t)
	type entry struct {
		ID, Name string
		Stale    bool
		Age      *int   `json:"age_hours"`
		First    string `json:"first_day"`
		Last     string `json:"last_day"`
	}
	for path, want := range map[string]string{
		"/v1/cities?q=Delhi":            "Delhi false 0 2026-11-20 2026-11-20",
		"/v1/cities?q=Kanpur":           "Kanpur true 50 2026-11-20 2026-11-20",
		"/v1/cities?q=Kochi":            "Kochi true 9590 2015-07-09 2026-11-20",
		"/v1/cities?q=Byrnihat":         "Byrnihat true none 2026-11-20 2026-11-20",
		"/v1/stations?near=28.6,77.2":   "cpcb-mandir-marg false 0  ",
		"/v1/stations?near=9.98,76.33":  "cpcb-old true 3000  ",
		"/v1/stations?near=26.05,91.86": "cpcb-silent true none  ",
	} {
		t.Run(path, func(t *testing.T) {
			var page schema.List[entry]
			if _, body := w.getInto(t, path, &page); len(page.Data) == 0 {
				t.Fatalf("no entries: %s", body)
			}
			e, age := page.Data[0], "none"
			if e.Age != nil {
				age = fmt.Sprint(*e.Age)
			}
			if e.ID != "" {
				e.Name = e.ID
			}
			if got := fmt.Sprint(e.Name, " ", e.Stale, " ", age, " ", e.First, " ", e.Last); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestCursorBelongsToItsList(t *testing.T) {
	t.Parallel()
	w := india(t)
	next := func(path string) string {
		t.Helper()
		var page struct {
			Next *string `json:"next_cursor"`
		}
		if _, body := w.getInto(t, path, &page); page.Next == nil {
			t.Fatalf("%s: no next_cursor: %s", path, body)
		}
		return *page.Next
	}
	cities, stations, near := next("/v1/cities?limit=1"), next("/v1/stations?limit=1"), next("/v1/stations?near=28.6,77.2&limit=1")
	for _, path := range []string{
		"/v1/stations?cursor=" + cities, "/v1/cities?cursor=" + stations, "/v1/stations?cursor=" + near,
		"/v1/stations?near=28.6,77.2&cursor=" + stations, "/v1/stations?near=18.5,73.8&cursor=" + near,
	} {
		status, h, body := w.get(t, path)
		checkProblem(t, status, h, body, schema.InvalidRequest, "cursor")
	}
	for _, path := range []string{"/v1/cities", "/v1/stations", "/v1/stations?near=28.6,77.2&limit=1&cursor=" + near} {
		if _, _, body := w.get(t, path); !strings.Contains(body, `"has_more":false,"next_cursor":null`) {
			t.Errorf("the last page of %s: %s", path, body)
		}
	}
}

// Before the first roll-up every city query fails as unavailable, not as an unknown
// city.
func TestCityQueriesBeforeTheFirstRollUp(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.serve(t)
	for range 2 { // before and after the first refresh
		for _, path := range []string{"/v1/aqi?city=Delhi", "/v1/aqi?cities=Delhi,Pune", "/v1/aqi?lat=28.6&lon=77.2", "/v1/aqi?city=Delhi&date=2018-11-08"} {
			status, h, body := w.get(t, path)
			checkProblem(t, status, h, body, schema.ServiceUnavailable, "")
		}
		w.refresh(t)
	}
}
