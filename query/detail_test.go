package query_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/query"
	"vayu/schema"
	"vayu/schema/advice"
	"vayu/schema/air"
	"vayu/schema/naqi"
)

// The list of stations agrees with the counts: it has the stations that reported in
// the record's hour, whatever they reported before or after.
func TestDetailedViewListsTheStationsOfItsHour(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	full := func(at time.Time, aqi int) figure {
		return figure{at: at, aqi: aqi, amount: [6]float64{1, 2, 3, 4, 5, 6}}
	}
	w.station(t, w.live, "used", "Delhi", "Delhi", 28.6, 77.2, full(hour, 90), full(hour.Add(time.Hour), -1))
	w.station(t, w.live, "unrated", "Delhi", "Delhi", 28.61, 77.2, full(hour.Add(-time.Hour), 80), full(hour, -1))
	w.station(t, w.live, "late", "Delhi", "Delhi", 28.62, 77.2, full(hour.Add(-time.Hour), 70))
	w.station(t, w.live, "silent", "Delhi", "Delhi", 28.63, 77.2, full(hour.AddDate(-10, 0, 0), 60))
	w.station(t, w.live, "never", "Delhi", "Delhi", 28.64, 77.2)
	for _, id := range []string{"late", "silent", "never"} {
		w.exec(t, fmt.Sprintf(`INSERT INTO %[1]s.station SELECT * REPLACE ('other' AS source, 'Another source' AS attribution)
			FROM %[1]s.station WHERE id = '%[2]s'`, w.live, id))
	}
	w.exec(t, fmt.Sprintf("OPTIMIZE TABLE %s.station FINAL", w.live))
	w.cityHour(t, w.live, "Delhi", "Delhi", figure{at: hour, aqi: 90, used: 2, amount: [6]float64{1, 2, 3, 4, 5, 6}})
	w.rollup(t, w.live, hour.AddDate(-10, 0, 0))
	dir := t.TempDir()
	check := func() {
		t.Helper()
		var got air.Detail
		_, _, body := w.get(t, "/v1/aqi?city=Delhi&view=detail")
		if err := json.Unmarshal([]byte(body), &got); err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		list := map[string]int{}
		for _, st := range got.Stations {
			list[st.ID] = -1
			if st.AQI != nil {
				list[st.ID] = *st.AQI
			}
			if !st.Updated.Equal(hour) {
				t.Errorf("%s is of %s", st.ID, st.Updated)
			}
		}
		if diff := cmp.Diff(map[string]int{"used": 90, "unrated": -1}, list); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"CPCB"}, got.Attribution); diff != "" {
			t.Errorf("attribution (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"cpcb"}, got.Source); diff != "" {
			t.Errorf("source (-want +got):\n%s", diff)
		}
		if got.StationsTotal != len(list) {
			t.Errorf("stations_total is %d, want %d: %s", got.StationsTotal, len(list), body)
		}
	}
	with := func(c *query.Config) { c.Directory = dir }
	w.serve(t, with)
	w.refresh(t)
	check()
	w.serve(t, with) // a new process with only the file
	w.service.Restore()
	check()
}

// NH3 and Pb count in the index, but are no fields of a record. A detailed record has their concentration if a station
// measures it.
func TestDetailedViewHasTheConcentrationOfNH3(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	f := figure{at: hour, aqi: 90, amount: [6]float64{1, 2, 3, 4, 5, 6}}
	w.station(t, w.live, "ito", "Delhi", "Delhi", 28.6, 77.2)
	w.exec(t, fmt.Sprintf("INSERT INTO %s.station_hour (station,nh3,nh3_index,%s) VALUES ('ito',52.444,13,%s)", w.live, figureColumns, f.columns()))
	w.exec(t, fmt.Sprintf("INSERT INTO %s.city_hour (city,state,stations_used,stations_total,nh3,nh3_index,%s) VALUES ('Delhi','Delhi',1,1,52.444,13,%s)",
		w.live, figureColumns, f.columns()))
	w.exec(t, fmt.Sprintf(`INSERT INTO %s.city_day (city,state,day,stations_used,stations_total,nh3,nh3_index,%s)
		VALUES ('Delhi','Delhi','%s',1,1,61.5,15,%s)`, w.live, figureColumns, schema.DayOf(hour)-1, f.columns()))
	w.station(t, w.live, "pune", "Pune", "Maharashtra", 18.5, 73.8, f)
	w.cityHour(t, w.live, "Pune", "Maharashtra", f)
	w.rollup(t, w.live, hour.AddDate(0, 0, -3))
	dir := t.TempDir()
	with := func(c *query.Config) { c.Directory = dir }
	w.serve(t, with)
	w.refresh(t)
	check := func(t *testing.T, path string, want float64) {
		t.Helper()
		_, _, body := w.get(t, path+"&view=detail")
		var got struct {
			NH3       *float64          `json:"nh3"`
			Pb        *float64          `json:"pb"`
			Units     map[string]string `json:"units"`
			Averaging map[string]string `json:"averaging"`
		}
		if err := json.Unmarshal([]byte(body), &got); err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		if got.NH3 == nil {
			t.Errorf("nh3 is missing, want %v: %s", want, body)
		} else if *got.NH3 != want {
			t.Errorf("nh3 is %v, want %v: %s", *got.NH3, want, body)
		}
		if got.Units["nh3"] != "µg/m³" || got.Averaging["nh3"] != "24h" {
			t.Errorf("unit %q and averaging interval %q of nh3", got.Units["nh3"], got.Averaging["nh3"])
		}
		if got.Pb != nil {
			t.Errorf("pb is %v, but was not measured", *got.Pb)
		}
	}
	paths := map[string]float64{
		"/v1/aqi?city=Delhi":                                           52.44,
		"/v1/aqi?city=Delhi&kinds=reference":                           52.44,
		"/v1/aqi?lat=28.61&lon=77.21":                                  52.44,
		"/v1/aqi?city=Delhi&date=" + (schema.DayOf(hour) - 1).String(): 61.5,
	}
	for path, want := range paths {
		t.Run(path, func(t *testing.T) { check(t, path, want) })
	}
	if _, _, body := w.get(t, "/v1/aqi?city=Pune&view=detail"); strings.Contains(body, "nh3") {
		t.Errorf("a city without NH3 names it: %s", body)
	}
	w.serve(t, with) // a new process with only the file
	w.service.Restore()
	check(t, "/v1/aqi?city=Delhi", 52.44)
}

// The name of the category and the health statement follow Accept-Language. Without the header, and for English, the bytes are the same.
func TestHealthFollowsAcceptLanguage(t *testing.T) {
	t.Parallel()
	w := india(t)
	for _, path := range []string{
		"/v1/aqi?city=Delhi&view=detail", "/v1/aqi?lat=28.6&lon=77.2&view=detail", "/v1/aqi?station=cpcb-mandir-marg&view=detail",
		"/v1/aqi?city=Delhi&date=2026-11-19&view=detail", "/v1/aqi?cities=Delhi,Pune&view=detail", "/v1/aqi?bbox=68,6,98,38&view=detail",
		"/v1/aqi?city=Delhi&view=detail&scale=us",
	} {
		t.Run(path, func(t *testing.T) {
			_, plain, english := w.get(t, path)
			for accept, want := range map[string]advice.Language{"en-IN": "en", "fr": "en", "ta-IN, en;q=0.5": "ta", "*;q=0.1, hi": "hi"} {
				status, h, body := w.get(t, path, "Accept-Language", accept)
				if status != http.StatusOK || h.Get("Content-Language") != string(want) || !strings.Contains(strings.Join(h.Values("Vary"), ","), "Accept-Language") {
					t.Fatalf("%s: status %d, Content-Language %q, Vary %q", accept, status, h.Get("Content-Language"), h.Values("Vary"))
				}
				back := body
				for _, category := range naqi.Categories() {
					from, _ := advice.Of(category, want)
					to, _ := advice.Of(category, advice.English)
					back = strings.ReplaceAll(back, from.Statement, to.Statement)
					name, translated := `"category_name":"`+category+`"`, `"category_name":"`+from.Name+`"`
					if strings.Contains(english, name) != strings.Contains(body, translated) {
						t.Errorf("%s: the name of the category is not %s: %s", accept, from.Name, body)
					}
					back = strings.ReplaceAll(back, translated, name)
				}
				if diff := cmp.Diff(english, back); diff != "" {
					t.Errorf("%s: more than the name and the statement differs (-want +got):\n%s", accept, diff)
				}
				if same := body == english; same != (want == advice.English) || same != (h.Get("Etag") == plain.Get("Etag")) {
					t.Errorf("%s: same body: %t, ETags %q and %q", accept, same, plain.Get("Etag"), h.Get("Etag"))
				}
				if status, _, _ := w.get(t, path, "Accept-Language", accept, "If-None-Match", h.Get("Etag")); status != http.StatusNotModified {
					t.Errorf("%s: status %d with the ETag, want 304", accept, status)
				}
			}
		})
	}
	for _, path := range []string{"/v1/aqi?city=Delhi", "/v1/aqi?cities=Delhi,Pune"} { // they have no text
		if _, h, _ := w.get(t, path, "Accept-Language", "ta"); h.Get("Content-Language") != "" || strings.Contains(strings.Join(h.Values("Vary"), ","), "Accept-Language") {
			t.Errorf("%s: Content-Language %q, Vary %q", path, h.Get("Content-Language"), h.Values("Vary"))
		}
	}
}
