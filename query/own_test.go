package query_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/schema"
	"vayu/schema/air"
)

// ownStation registers a private station of the account of the live key.
func (w *fixture) ownStation(t *testing.T, db, account, name string, hours ...figure) string {
	t.Helper()
	id := air.OwnStationID(account, name)
	w.exec(t, fmt.Sprintf(`INSERT INTO %s.pushed_station (account, station, id, name, city, state, latitude, longitude, kind, licence, attribution, published, registered_at)
		VALUES ('%s','%s','%s','%s name','Delhi','Delhi',28.6315,77.2167,'sensor','','me',0,toDateTime64(%d,3))`, db, account, name, id, name, hour.Unix()))
	for _, f := range hours {
		w.exec(t, fmt.Sprintf("INSERT INTO %s.station_hour (station,%s) VALUES ('%s',%s)", db, figureColumns, id, f.columns()))
	}
	return id
}

// An account sees its own private stations with their figures, in lists and by id or name. Other accounts do not.
func TestOwnStations(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.station(t, w.live, "cpcb-a", "Delhi", "Delhi", 28.6, 77.2, figure{at: hour, aqi: 100, amount: [6]float64{60, gap, gap, gap, gap, gap}})
	mine := w.ownStation(t, w.live, "acc_live", "roof-1", figure{at: hour, aqi: 138, amount: [6]float64{61.5, gap, gap, gap, gap, gap}})
	silent := w.ownStation(t, w.live, "acc_live", "roof-2")
	foreign := w.ownStation(t, w.live, "acc_other", "gate", figure{at: hour, aqi: 90, amount: [6]float64{40, gap, gap, gap, gap, gap}})
	w.rollup(t, w.live, hour)
	w.serve(t)
	w.refresh(t)
	for path, want := range map[string][]string{
		"/v1/stations?own=true":                      {mine + " 138", silent + " none"},
		"/v1/stations?own=true&limit=1":              {mine + " 138"},
		"/v1/stations":                               {"cpcb-a 100"},
		"/v1/stations?near=28.6315,77.2167":          {"cpcb-a 100"},
		"/v1/stations?near=28.6,77.2&radius_km=25.0": {"cpcb-a 100"},
	} {
		t.Run(path, func(t *testing.T) {
			status, _, text := w.get(t, path)
			if status != 200 {
				t.Fatalf("status %d: %s", status, text)
			}
			var reply schema.List[air.StationEntry]
			if err := json.Unmarshal([]byte(text), &reply); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range reply.Data {
				aqi := "none"
				if e.AQI != nil {
					aqi = fmt.Sprint(*e.AQI)
				}
				got = append(got, e.ID+" "+aqi)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("stations and their AQI (-want +got):\n%s", diff)
			}
		})
	}
	for path, want := range map[string]int{
		"/v1/stations/" + mine:             200,
		"/v1/stations/roof-1":              200,
		"/v1/stations/roof-2":              200,
		"/v1/stations/roof-1/quality":      200,
		"/v1/stations/" + foreign:          404,
		"/v1/stations/gate":                404,
		"/v1/stations/gate/quality":        404,
		"/v1/stations?own=false":           400,
		"/v1/stations?own=true&near=28,77": 400,
	} {
		t.Run(path, func(t *testing.T) {
			if status, _, text := w.get(t, path); status != want {
				t.Errorf("status %d, want %d: %s", status, want, text)
			}
		})
	}
}
