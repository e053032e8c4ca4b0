package query_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/query"
	"vayu/schema"
	"vayu/schema/air"
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
		if cmp.Diff([]string{"CPCB"}, got.Attribution)+cmp.Diff([]string{"cpcb"}, got.Source) != "" || got.StationsTotal != len(list) {
			t.Error(body)
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
		if got.NH3 == nil || *got.NH3 != want {
			t.Errorf("nh3 is not %v: %s", want, body)
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
