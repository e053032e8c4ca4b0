package query_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/schema"
	"vayu/schema/air"
)

// stations returns a fixture with a public station of three days, a sensor, a station with too few pollutants, and own
// stations of two accounts.
func stations(t *testing.T) (w *fixture, mine, foreign string) {
	t.Helper()
	w = newFixture(t)
	var hours []figure
	for back := range 60 {
		hours = append(hours, figure{at: hour.Add(-time.Duration(back) * time.Hour), aqi: 100 + back, amount: [6]float64{60, 90, gap, gap, 0.8, gap}})
	}
	w.station(t, w.live, "a", "Delhi", "Delhi", 28.6, 77.2, hours...)
	w.station(t, w.live, "b", "Delhi", "Delhi", 28.61, 77.21, figure{at: hour, aqi: 300, amount: [6]float64{200, 300, 40, 20, 2, 50}})
	w.station(t, w.live, "sensor", "Delhi", "Delhi", 28.62, 77.21, figure{at: hour, aqi: 90, amount: [6]float64{40, gap, gap, gap, gap, gap}})
	w.kind(t, w.live, "sensor", air.Sensor)
	w.station(t, w.live, "few", "Delhi", "Delhi", 28.63, 77.21, figure{at: hour, aqi: -1, amount: [6]float64{gap, 50, gap, gap, gap, gap}})
	w.cityHour(t, w.live, "Delhi", "Delhi", figure{at: hour, aqi: 200, used: 2, amount: [6]float64{130, 195, 40, 20, 1.4, 50}})
	mine = w.ownStation(t, w.live, "acc_live", "roof-1", figure{at: hour, aqi: 138, amount: [6]float64{61.5, gap, gap, gap, gap, gap}})
	foreign = w.ownStation(t, w.live, "acc_other", "gate", figure{at: hour, aqi: 90, amount: [6]float64{40, gap, gap, gap, gap, gap}})
	w.rollup(t, w.live, hour.Add(-70*time.Hour))
	w.serve(t)
	w.refresh(t)
	return w, mine, foreign
}

// A record of a station has only the values of the station, although others have the missing ones.
func TestStationNow(t *testing.T) {
	t.Parallel()
	w, mine, _ := stations(t)
	const updated = "2026-11-20T08:30:00Z"
	own := `{"status":"success","city":"Delhi","aqi":138,"category":"Moderate","pm25":61.5,"pm10":null,"no2":null,"so2":null,"co":null,"o3":null,"dominant":"PM10","updated":"` + updated + `","station":"` + mine + `"}`
	for query, want := range map[string]string{
		"station=a":                            `{"status":"success","city":"Delhi","aqi":100,"category":"Satisfactory","pm25":60,"pm10":90,"no2":null,"so2":null,"co":0.8,"o3":null,"dominant":"PM10","updated":"` + updated + `","station":"a"}`,
		"station=sensor&max_age=9000":          `{"status":"success","city":"Delhi","aqi":90,"category":"Satisfactory","pm25":40,"pm10":null,"no2":null,"so2":null,"co":null,"o3":null,"dominant":"PM10","updated":"` + updated + `","station":"sensor"}`,
		"station=roof-1":                       own,
		"station=" + mine:                      own,
		"station=" + mine + "&kinds=reference": own,
	} {
		t.Run(query, func(t *testing.T) {
			status, h, body := w.get(t, "/v1/aqi?"+query)
			if status != http.StatusOK || body != want {
				t.Errorf("got status %d and\n%s, want\n%s", status, body, want)
			}
			if got := h.Get("X-Service-Data-Age"); got != "2520" {
				t.Errorf("got age %q, want 2520", got)
			}
			if status, _, _ := w.get(t, "/v1/aqi?"+query, "If-None-Match", h.Get("ETag")); status != http.StatusNotModified {
				t.Errorf("got status %d for the ETag of the reply, want 304", status)
			}
		})
	}
}

func TestStationInThePast(t *testing.T) {
	t.Parallel()
	w, mine, _ := stations(t)
	today := schema.DayOf(now)
	for query, want := range map[string]string{
		// The last hour of a day stands for the day. It ends at 18:30 UTC; the newest hour ends at 8:30.
		fmt.Sprintf("station=a&date=%s", today-1):                                  "a 114 " + (today - 1).String(),
		fmt.Sprintf("station=a&date=%s", today):                                    "a 100 " + today.String(),
		fmt.Sprintf("station=%s&date=%s", mine, today):                             mine + " 138 " + today.String(),
		fmt.Sprintf("station=a&from=%s&to=%s", today-40, today):                    "a day 138 114 100",
		fmt.Sprintf("station=a&from=%s&to=%s&interval=day", today-1, today):        "a day 114 100",
		fmt.Sprintf("station=a&from=%s&to=%s&interval=hour", today, today):         "a hour 113 112 111 110 109 108 107 106 105 104 103 102 101 100",
		fmt.Sprintf("station=roof-1&from=%s&to=%s&interval=hour", today-30, today): mine + " hour 138",
	} {
		t.Run(query, func(t *testing.T) {
			var reply struct {
				City, Station, Interval, Date string
				AQI                           int
				Records                       []struct{ AQI int }
			}
			h, _ := w.getInto(t, "/v1/aqi?"+query, &reply)
			got := fmt.Sprint(reply.Station, " ", reply.AQI, " ", reply.Date)
			if reply.Records != nil {
				got = reply.Station + " " + reply.Interval
				for _, r := range reply.Records {
					got += fmt.Sprint(" ", r.AQI)
				}
			}
			if got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			if reply.City != "Delhi" {
				t.Errorf("got city %q, want Delhi", reply.City)
			}
			if status, _, _ := w.get(t, "/v1/aqi?"+query, "If-None-Match", h.Get("ETag")); status != http.StatusNotModified {
				t.Errorf("got status %d for the ETag of the reply, want 304", status)
			}
		})
	}
}

func TestStationInDetail(t *testing.T) {
	t.Parallel()
	w, mine, _ := stations(t)
	for query, stale := range map[string]bool{
		"station=a&view=detail":                                          false,
		"station=" + mine + "&view=detail":                               false,
		"station=a&view=detail&date=" + (schema.DayOf(now) - 2).String(): false,
	} {
		t.Run(query, func(t *testing.T) {
			var reply struct {
				Station, State string
				Stations       []air.StationFigure
				Used           int `json:"stations_used"`
				Stale          bool
				Estimated      []string
				Attribution    []string
				Source         []string
			}
			w.getInto(t, "/v1/aqi?"+query, &reply)
			if len(reply.Stations) != 1 || reply.Stations[0].ID != reply.Station || reply.Used != 1 {
				t.Errorf("got stations %v, %d used, want only %s", reply.Stations, reply.Used, reply.Station)
			}
			if reply.Stale != stale {
				t.Errorf("got stale %t, want %t", reply.Stale, stale)
			}
			if diff := cmp.Diff([]string{}, reply.Estimated); diff != "" {
				t.Errorf("estimated pollutants (-want +got):\n%s", diff)
			}
			if len(reply.Attribution) != 1 || len(reply.Source) != 1 || reply.State != "Delhi" {
				t.Errorf("got attribution %q, source %q and state %q", reply.Attribution, reply.Source, reply.State)
			}
		})
	}
}

func TestStationQueriesWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	w, mine, foreign := stations(t)
	w.rejects(t, "/v1/aqi?", map[string]rejection{
		"station=nobody":                                        {schema.NotFound, "station", "no such station"},
		"station=" + foreign:                                    {schema.NotFound, "station", "no such station"},
		"station=gate&date=2026-11-20":                          {schema.NotFound, "station", "no such station"},
		"station=few":                                           {schema.NoData, "station", "It measures pm10 and does not count: it measures fewer than three pollutants"},
		"station=a&date=2020-01-01":                             {schema.NoData, "date", "There is no AQI for the station a for 2020-01-01."},
		"station=a&from=2020-01-01&to=2020-01-31":               {schema.NoData, "from", "There is no AQI for the station a for 2020-01-01 to 2020-01-31."},
		"station=" + mine + "&date=2020-01-01":                  {schema.NoData, "date", "the station " + mine},
		"station=a&max_age=60":                                  {schema.NoCurrentData, "max_age", "2520 seconds old"},
		"station=":                                              {schema.InvalidRequest, "station", "empty"},
		"station=%00":                                           {schema.InvalidRequest, "station", "control character"},
		"station=a&station=b":                                   {schema.InvalidRequest, "station", "once"},
		"station=" + strings.Repeat("a", 201):                   {schema.InvalidRequest, "station", "200 characters"},
		"station=a&city=Delhi":                                  {schema.ConflictingParameters, "station", "Send only one"},
		"station=a&pincode=110001":                              {schema.ConflictingParameters, "station", "Send only one"},
		"station=a&lat=28&lon=77":                               {schema.ConflictingParameters, "station", "Send only one"},
		"station=a&kinds=sensor":                                {schema.ConflictingParameters, "kinds", "one kind"},
		"station=a&interval=hour":                               {schema.InvalidRequest, "interval", "requires from and to"},
		"station=a&from=2026-10-01&to=2026-11-01&interval=hour": {schema.InvalidRequest, "to", "at most 31 days"},
		"statoin=a":                                             {schema.InvalidRequest, "statoin", "Did you mean station?"},
	})
}
