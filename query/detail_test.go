package query_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/query"
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
