package query_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/query"
	"vayu/schema"
	"vayu/schema/air"
)

// kind sets the kind of a station.
func (w *fixture) kind(t testing.TB, db, id string, kind air.StationKind) {
	t.Helper()
	w.exec(t, fmt.Sprintf("INSERT INTO %[1]s.station SELECT * REPLACE ('%[3]s' AS kind) FROM %[1]s.station FINAL WHERE id = '%[2]s'", db, id, kind))
}

func figureAt(at time.Time, aqi int, amount ...float64) figure {
	f := figure{at: at, aqi: aqi, used: 1, amount: [6]float64{10, 70, 30, 40, 5, 60}}
	copy(f.amount[:], amount)
	return f
}

// surat returns a fixture with a reference station of AQI 70 and a sensor of 392,
// now and on the three days before.
func surat(t testing.TB) *fixture {
	t.Helper()
	w := newFixture(t)
	var reference, sensor []figure
	for back := range 72 {
		at := hour.Add(-time.Duration(back) * time.Hour)
		reference, sensor = append(reference, figureAt(at, 70, 40)), append(sensor, figureAt(at, 392, 200))
	}
	w.cityHour(t, w.live, "Surat", "Gujarat", reference...)
	w.station(t, w.live, "cpcb-science-centre", "Surat", "Gujarat", 21.17, 72.79, reference...)
	w.station(t, w.live, "low-cost", "Surat", "Gujarat", 21.19, 72.81, sensor...)
	w.kind(t, w.live, "low-cost", air.Sensor)
	w.cityDay(t, w.live, "Surat", "Gujarat", schema.DayOf(hour)-2, reference[:3]...)
	w.rollup(t, w.live, hour.AddDate(0, 0, -4))
	return w
}

func TestSensorsCountWhenTheQueryNamesThem(t *testing.T) {
	t.Parallel()
	w := surat(t)
	run(t, w)
	for path, want := range map[string]int{
		"city=Surat": 70, "city=Surat&kinds=reference": 70, "city=Surat&kinds=reference,sensor": 231, "city=Surat&kinds=sensor": 392,
		"city=Surat&date=2026-11-19": 70, "city=Surat&date=2026-11-19&kinds=sensor,reference": 231,
		"lat=21.17&lon=72.79": 70, "lat=21.18&lon=72.8&kinds=sensor": 392, "lat=21.17&lon=72.79&date=2026-11-19": 70,
		"pincode=395001": 70, "pincode=395001&kinds=sensor": 392, "pincode=395001&date=2026-11-19&kinds=sensor": 392, "pincode=395001&date=2026-11-19": 70,
	} {
		for _, view := range []string{"", "&view=detail"} {
			var got struct {
				AQI      int
				Kinds    []string
				Stations []air.StationFigure
			}
			_, body := w.getInto(t, "/v1/aqi?"+path+view, &got)
			if got.AQI != want {
				t.Errorf("%s: AQI %d, want %d: %s", path, got.AQI, want, body)
			}
			if named := strings.Contains(path, "sensor"); named != (got.Kinds != nil) {
				t.Errorf("%s: kinds %v", path+view, got.Kinds)
			}
			for _, st := range got.Stations {
				if sensor := st.Kind == "sensor"; sensor && !strings.Contains(path, "sensor") {
					t.Errorf("%s: %s is listed", path, st.ID)
				}
			}
		}
	}
	for path, want := range map[string][]int{
		"city=Surat&from=2026-11-18&to=2026-11-19":                                          {70, 70},
		"city=Surat&from=2026-11-18&to=2026-11-20&kinds=reference,sensor":                   {231, 231, 231},
		"city=Surat&from=2026-11-20&to=2026-11-20&kinds=sensor&interval=hour":               slices.Repeat([]int{392}, 14),
		"lat=21.17&lon=72.79&from=2026-11-18&to=2026-11-19&kinds=sensor&interval=day":       {392, 392},
		"lat=21.17&lon=72.79&from=2026-11-20&to=2026-11-20&interval=hour":                   slices.Repeat([]int{70}, 14),
		"pincode=395001&from=2026-11-18&to=2026-11-19&kinds=sensor":                         {392, 392},
		"city=Surat&from=2026-11-18&to=2026-11-19&kinds=reference&interval=day":             {70, 70},
		"city=Surat&from=2026-11-20&to=2026-11-20&kinds=reference,sensor&interval=hour&x=0": nil,
	} {
		status, _, body := w.get(t, "/v1/aqi?"+path)
		if want == nil {
			if status != http.StatusBadRequest {
				t.Errorf("%s: %d", path, status)
			}
			continue
		}
		var got struct {
			rangeReply
			Kinds []string
		}
		if status != http.StatusOK {
			t.Fatalf("%s: %d %s", path, status, body)
		}
		decode(t, body, &got)
		var aqis []int
		for _, r := range got.Records {
			aqis = append(aqis, r.AQI)
		}
		if diff := cmp.Diff(want, aqis); diff != "" || strings.Contains(path, "sensor") != (got.Kinds != nil) {
			t.Errorf("%s: %v %s", path, got.Kinds, diff)
		}
	}
	_, _, body := w.get(t, "/v1/aqi?cities=Surat,Surat&kinds=reference,sensor")
	if strings.Count(body, `"aqi":231`) != 2 || strings.Count(body, `"kinds":["reference","sensor"]`) != 3 {
		t.Errorf("bulk: %s", body)
	}
	if _, _, body := w.get(t, "/v1/stations?near=21.17,72.79"); !strings.Contains(body, `"kind":"sensor"`) {
		t.Errorf("the list: %s", body)
	}
}

// Stored figures and figures computed from the same stations give the same day.
func TestStoredAndComputedFiguresAgree(t *testing.T) {
	t.Parallel()
	w := surat(t)
	w.serve(t)
	w.refresh(t)
	_, _, stored := w.get(t, "/v1/aqi?city=Surat&from=2026-11-18&to=2026-11-20")
	w.serve(t, func(c *query.Config) { c.Kinds = []air.StationKind{air.Sensor} })
	w.refresh(t)
	_, _, computed := w.get(t, "/v1/aqi?city=Surat&from=2026-11-18&to=2026-11-20&kinds=reference")
	if diff := cmp.Diff(stored, strings.Replace(computed, `,"kinds":["reference"]`, "", 1)); diff != "" {
		t.Error(diff)
	}
}

func TestNoDataErrorNamesTheNearestStation(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.station(t, w.live, "rated", "Surat", "Gujarat", 21.17, 72.79, figureAt(hour, 80))
	w.kind(t, w.live, "rated", air.Sensor)
	w.station(t, w.live, "pm-only", "Leh", "Ladakh", 34.16, 77.58, figureAt(hour, -1, 30, 50, gap, gap, gap, gap))
	w.kind(t, w.live, "pm-only", air.Sensor)
	w.station(t, w.live, "young", "Kavaratti", "Lakshadweep", 10.56, 72.64)
	for n, name := range []string{"pm25", "pm10", "no2"} {
		for back := range 3 {
			w.exec(t, fmt.Sprintf("INSERT INTO %s.reading (station, parameter, at, value, kind, averaging, source) VALUES ('young','%s',toDateTime(%d),%d,'concentration',60,'made')",
				w.live, name, hour.Add(-time.Duration(back)*time.Hour).Unix(), 10*n+back))
		}
	}
	w.station(t, w.live, "elsewhere", "Delhi", "Delhi", 28.6, 77.2, figureAt(hour, 100))
	w.cityHour(t, w.live, "Delhi", "Delhi", figureAt(hour, 100))
	w.rollup(t, w.live, hour)
	w.serve(t)
	w.refresh(t)
	for query, want := range map[string]struct {
		code    schema.Code
		field   string
		id      string
		has     []string
		missing []schema.Condition
	}{
		"lat=21.17&lon=72.79": {schema.NoStationNearby, "lat", "rated", []string{"pm25", "pm10", "no2", "so2", "co", "o3"}, []schema.Condition{schema.CountedKind}},
		"city=Surat":          {schema.NoData, "city", "rated", []string{"pm25", "pm10", "no2", "so2", "co", "o3"}, []schema.Condition{schema.CountedKind}},
		"lat=34.1&lon=77.5&kinds=reference,sensor": {
			schema.NoStationNearby, "lat", "pm-only", []string{"pm25", "pm10"}, []schema.Condition{schema.ThreePollutants},
		},
		"lat=34.1&lon=77.5": {
			schema.NoStationNearby, "lat", "pm-only", []string{"pm25", "pm10"}, []schema.Condition{schema.ThreePollutants, schema.CountedKind},
		},
		"lat=10.6&lon=72.6":                 {schema.NoStationNearby, "lat", "young", []string{"pm25", "pm10", "no2"}, []schema.Condition{schema.SixteenHours}},
		"lat=30&lon=77":                     {schema.NoStationNearby, "lat", "elsewhere", []string{"pm25", "pm10", "no2", "so2", "co", "o3"}, []schema.Condition{schema.Within100KM}},
		"lat=28.6&lon=77.2&date=2026-11-01": {schema.NoData, "date", "elsewhere", []string{"pm25", "pm10", "no2", "so2", "co", "o3"}, []schema.Condition{schema.InPeriod}},
	} {
		t.Run(query, func(t *testing.T) {
			status, h, body := w.get(t, "/v1/aqi?"+query)
			checkProblem(t, status, h, body, want.code, want.field)
			var got schema.ProblemBody
			decode(t, body, &got)
			near := got.Error.Nearest
			if near == nil {
				t.Fatalf("no nearest station: %s", body)
			}
			if near.ID != want.id {
				t.Errorf("got the station %q, want %q: %s", near.ID, want.id, body)
			}
			if near.DistanceKM == nil {
				t.Errorf("no distance: %s", body)
			}
			if diff := cmp.Diff(want.has, near.Has); diff != "" {
				t.Errorf("parameters of the station (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(want.missing, near.Missing); diff != "" {
				t.Errorf("missing conditions (-want +got):\n%s", diff)
			}
			if sensor := near.ID == "rated"; sensor != strings.Contains(body, "kinds=reference,sensor.") {
				t.Errorf("the way out: %s", body)
			}
		})
	}
}

func TestStationShowsItsLatestReadings(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.station(t, w.live, "pm-only", "Leh", "Ladakh", 34.16, 77.58, figureAt(hour, -1, 30, 50, gap, gap, gap, gap))
	put := func(name, kind string, back time.Duration, value, averaging int) {
		w.exec(t, fmt.Sprintf("INSERT INTO %s.reading (station, parameter, at, value, kind, averaging, source) VALUES ('pm-only','%s',toDateTime(%d),%d,'%s',%d,'made')",
			w.live, name, hour.Add(-back).Unix(), value, kind, averaging))
	}
	put("pm25", "concentration", 0, 31, 60)
	put("pm25", "concentration", time.Hour, 99, 60)
	put("pm10", "sub_index", 2*time.Hour, 50, 60)
	put("no2", "concentration", 40*24*time.Hour, 7, 60)
	w.rollup(t, w.live, hour)
	conn := &flakyConn{Conn: w.conn}
	w.serve(t, func(c *query.Config) { c.Conn = conn })
	w.refresh(t)
	var got air.StationReply
	_, h, body := w.get(t, "/v1/stations/pm-only")
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatal(err)
	}
	want := []air.LatestReading{
		{Parameter: "pm10", Value: 50, At: hour.Add(-2 * time.Hour), Kind: "sub_index", Averaging: 60},
		{Parameter: "pm25", Value: 31, Unit: "µg/m³", At: hour, Kind: "concentration", Averaging: 60},
	}
	if diff := cmp.Diff(want, got.Readings); diff != "" {
		t.Error(diff)
	}
	if got.Hour == nil || !got.Hour.Equal(hour) || got.SubIndices["pm25"] != 30 {
		t.Errorf("hour %v with the sub-indices %v, want %v with 30 of pm25: %s", got.Hour, got.SubIndices, hour, body)
	}
	if age := h.Get("X-SERVICE-Data-Age"); age != "2520" {
		t.Errorf("an age of %s s, want 2520", age)
	}
	conn.down.Store(true)
	for range 2 {
		if status, _, body := w.get(t, "/v1/stations/pm-only"); status != http.StatusOK || !strings.Contains(body, `"readings":null`) {
			t.Errorf("without the engine: %d %s", status, body)
		}
	}
}

// Two ids of one physical station count once, for a city and for a position.
func TestPhysicalStationCountsOnce(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.station(t, w.live, "cpcb-a", "Surat", "Gujarat", 21.17, 72.79, figureAt(hour, 100))
	w.station(t, w.live, "openaq-a", "Surat", "Gujarat", 21.17, 72.79, figureAt(hour, 300))
	w.station(t, w.live, "cpcb-b", "Surat", "Gujarat", 21.17, 72.79, figureAt(hour, 200))
	w.exec(t, fmt.Sprintf("INSERT INTO %[1]s.station SELECT * REPLACE ('cpcb-a' AS same_as) FROM %[1]s.station FINAL WHERE id = 'openaq-a'", w.live))
	w.cityHour(t, w.live, "Surat", "Gujarat", figureAt(hour, 150))
	w.rollup(t, w.live, hour)
	w.serve(t)
	w.refresh(t)
	for _, question := range []string{"city=Surat&kinds=reference,sensor", "lat=21.17&lon=72.79"} {
		if _, _, body := w.get(t, "/v1/aqi?"+question); !strings.Contains(body, `"aqi":150`) {
			t.Errorf("%s: %s", question, body)
		}
	}
}
