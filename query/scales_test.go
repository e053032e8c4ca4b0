package query_test

import (
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"vayu/query"
	"vayu/schema"
	"vayu/schema/air"
)

// scaled is a record with an index on another scale.
type scaled struct {
	AQI      int        `json:"aqi"`
	Uncapped *int       `json:"aqi_uncapped"`
	Date     string     `json:"date"`
	Station  string     `json:"station"`
	Updated  time.Time  `json:"updated"`
	Scale    *air.Scale `json:"scale"`
}

func (s *scaled) text() string {
	if s.Scale == nil {
		return "none"
	}
	word := func(p *string) string {
		if p == nil {
			return "null"
		}
		return *p
	}
	index := "null"
	if s.Scale.Index.Known() {
		index = fmt.Sprint(float64(s.Scale.Index) / 100)
	}
	return fmt.Sprintf("%s %s, %s, %s, %s", s.Scale.ID, index, word(s.Scale.Category), word(s.Scale.Color), word(s.Scale.Dominant))
}

// ask requests the record of a query.
func (w *fixture) ask(t testing.TB, query string) (s scaled) {
	t.Helper()
	w.getInto(t, "/v1/aqi?"+query, &s)
	return s
}

// hourlyMeans stores hourly means of a station, the newest in the hour of the tests.
func (w *fixture) hourlyMeans(t testing.TB, station, parameter string, means ...float64) {
	t.Helper()
	var rows []string
	for i, mean := range means {
		if !math.IsNaN(mean) {
			at := hour.Add(-time.Duration(i) * time.Hour).Unix()
			rows = append(rows, fmt.Sprintf("('%s','%s','concentration',toDateTime(%d),%v,4,4,'good',15,toDateTime(%d))", station, parameter, at, mean, at))
		}
	}
	w.exec(t, fmt.Sprintf(`INSERT INTO %s.station_parameter_hour (station, parameter, kind, at, mean, count, expected, flag, averaging, updated) VALUES %s`,
		w.live, strings.Join(rows, ",")))
}

// withMeans returns the cities of the tests, and hourly means of the two stations of Delhi.
func withMeans(t testing.TB) *fixture {
	t.Helper()
	w := india(t)
	day := func(mean float64) (out []float64) {
		for range 48 {
			out = append(out, mean)
		}
		return out
	}
	w.hourlyMeans(t, "cpcb-anand-vihar", "pm25", append([]float64{36, 42, 40, 31, 84}, day(74)...)...)
	w.hourlyMeans(t, "cpcb-mandir-marg", "pm25", append([]float64{24, 22, 32, 17, 54}, day(54)...)...)
	for _, id := range []string{"cpcb-anand-vihar", "cpcb-mandir-marg"} {
		w.hourlyMeans(t, id, "pm10", day(50)...)
	}
	w.hourlyMeans(t, "cpcb-anand-vihar", "no2", append([]float64{90}, day(30)...)...)
	w.hourlyMeans(t, "cpcb-anand-vihar", "o3", day(96)...)
	w.rollup(t, w.live, hour.Add(-24*time.Hour))
	w.serve(t)
	w.refresh(t)
	return w
}

func TestScalesOfTheCurrentAir(t *testing.T) {
	t.Parallel()
	w := withMeans(t)
	for query, want := range map[string]string{
		// The means of both stations are 30, 32, 36, 24, 69, 64, … µg/m³. Their NowCast with the factor 0.5 is 33.1.
		"city=Delhi&scale=us":                          "us 96, Moderate, #FFFF00, PM2.5",
		"city=Delhi&scale=eu":                          "eu 4, Poor, #FF5050, NO2",
		"city=Delhi&scale=who":                         "who 6.68, Above interim target 1, null, PM2.5",
		"city=Delhi&scale=in":                          "in 266, Poor, #FF9900, PM10",
		"station=cpcb-mandir-marg&scale=eu":            "eu null, null, null, null",
		"station=cpcb-anand-vihar&scale=eu":            "eu 4, Poor, #FF5050, NO2",
		"lat=28.6469&lon=77.3161&scale=us":             "us 113, Unhealthy for Sensitive Groups, #FF7E00, PM2.5",
		"city=Delhi&scale=us&view=detail":              "us 96, Moderate, #FFFF00, PM2.5",
		"city=Delhi&scale=us&kinds=reference":          "us 96, Moderate, #FFFF00, PM2.5",
		"city=Pune&scale=us":                           "us 154, Unhealthy, #FF0000, PM2.5", // no hourly means: 60 µg/m³ over 24 hours
		"city=Pune&scale=eu":                           "eu null, null, null, null",
		"city=Pune&scale=who":                          "who 4, Interim target 1 met, null, PM2.5",
		"city=Delhi&date=2026-11-19&scale=us":          "us 182, Unhealthy, #FF0000, PM2.5",
		"city=Delhi&date=2026-11-19&scale=eu":          "eu 4, Poor, #FF5050, PM2.5",
		"city=Delhi&date=2026-11-01&scale=eu":          "eu null, null, null, null",
		"city=Delhi&date=2026-11-19&scale=in":          "in 101, Moderate, #FFFF00, PM10",
		"city=Delhi&max_age=36000&scale=us":            "us 96, Moderate, #FFFF00, PM2.5",
		"city=Delhi&scale=us&kinds=sensor%2Creference": "us 96, Moderate, #FFFF00, PM2.5",
	} {
		t.Run(query, func(t *testing.T) {
			for range 2 { // the second answer for a city is from the cache
				got := w.ask(t, query)
				if got.text() != want {
					t.Errorf("got  %s\nwant %s", got.text(), want)
				}
				if got.Scale != nil && (got.Scale.Reason == "") != got.Scale.Index.Known() {
					t.Errorf("index %v with reason %q", got.Scale.Index, got.Scale.Reason)
				}
				if got.Scale != nil && (got.Scale.Source == "" || got.Scale.Method == "" || got.Uncapped == nil) {
					t.Errorf("source %q, method %q, uncapped %v", got.Scale.Source, got.Scale.Method, got.Uncapped)
				}
			}
		})
	}
}

// The first read of a city after a new snapshot reads the hourly means of its neighbours, too.
func TestReadOfOneCityPreparesItsNeighbours(t *testing.T) {
	t.Parallel()
	w := withMeans(t)
	conn := &hangingConn{Conn: w.conn}
	w.serve(t, func(c *query.Config) { c.Conn = conn })
	w.refresh(t)
	before := conn.queries.Load()
	check := func(query, want string) {
		t.Helper()
		if got := w.ask(t, query); got.text() != want {
			t.Errorf("%s: got %s, want %s", query, got.text(), want)
		}
	}
	check("city=Pune&scale=us&max_age=36000", "us 154, Unhealthy, #FF0000, PM2.5")
	if n := conn.queries.Load() - before; n != 1 {
		t.Errorf("the first read queries ClickHouse %d times, want once", n)
	}
	conn.down.Store(true)
	check("city=Delhi&scale=us", "us 96, Moderate, #FFFF00, PM2.5")
	conn.down.Store(false)
	check("city=Delhi&scale=eu", "eu 4, Poor, #FF5050, NO2")
}

// A record is the same with and without a scale, except for the additional fields.
func TestScaleLeavesTheRecordUnchanged(t *testing.T) {
	t.Parallel()
	w := withMeans(t)
	for _, query := range []string{"city=Delhi", "city=Pune", "station=cpcb-karve-road", "lat=28.6&lon=77.2&view=detail", "city=Delhi&date=2026-11-19"} {
		_, _, plain := w.get(t, "/v1/aqi?"+query)
		_, _, with := w.get(t, "/v1/aqi?"+query+"&scale=us")
		if head := strings.TrimSuffix(plain, "}"); !strings.HasPrefix(with, head+`,"aqi_uncapped":`) {
			t.Errorf("%s:\n%s\n%s", query, plain, with)
		}
	}
}

func TestScalesOfRangesAndBulk(t *testing.T) {
	t.Parallel()
	w := withMeans(t)
	var days, hours struct {
		Scale   *air.RangeScale `json:"scale"`
		Records []scaled        `json:"records"`
	}
	for query, into := range map[string]any{
		"city=Delhi&from=2026-11-18&to=2026-11-20&scale=us":                             &days,
		"station=cpcb-mandir-marg&from=2026-11-20&to=2026-11-20&interval=hour&scale=us": &hours,
	} {
		w.getInto(t, "/v1/aqi?"+query, into)
	}
	if len(days.Records) != 3 || days.Scale == nil || days.Scale.ID != "us" || days.Scale.Source == "" {
		t.Fatalf("%d days on the scale %v", len(days.Records), days.Scale)
	}
	for _, r := range days.Records {
		if r.text() != "us 182, Unhealthy, #FF0000, PM2.5" || r.Scale.Source != "" {
			t.Errorf("%s: %s, source %q", r.Date, r.text(), r.Scale.Source)
		}
	}
	// The NowCast of 24, 22, 32, 17, 54, … is 25.9 µg/m³, and an hour earlier that of 22, 32, 17, 54, … is 27.8.
	if len(hours.Records) != 2 || hours.Records[0].text() != "us 86, Moderate, #FFFF00, PM2.5" || hours.Records[1].text() != "us 82, Moderate, #FFFF00, PM2.5" {
		t.Errorf("%d hours", len(hours.Records))
		for i := range hours.Records {
			t.Error(hours.Records[i].text())
		}
	}
	var bulk struct{ Results []scaled }
	if _, body := w.getInto(t, "/v1/aqi?cities=Delhi,Atlantis,Pune&scale=us", &bulk); len(bulk.Results) != 3 {
		t.Fatalf("%d results, want 3: %s", len(bulk.Results), body)
	}
	if a, b, c := bulk.Results[0].text(), bulk.Results[1].text(), bulk.Results[2].text(); a != "us 96, Moderate, #FFFF00, PM2.5" || b != "none" || c != "us 154, Unhealthy, #FF0000, PM2.5" {
		t.Errorf("bulk: %s; %s; %s", a, b, c)
	}
}

// The published index stays at 500. The uncapped one continues with the slope of the last band.
func TestUncappedIndex(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.station(t, w.live, "s", "Delhi", "Delhi", 28.6, 77.2, figure{at: hour, aqi: 500, amount: [6]float64{300, 670, 30, gap, gap, gap}})
	w.cityHour(t, w.live, "Delhi", "Delhi", figure{at: hour, aqi: 500, amount: [6]float64{300, 670, 30, gap, gap, gap}})
	w.rollup(t, w.live, hour)
	w.serve(t)
	w.refresh(t)
	for _, place := range []string{"city=Delhi", "station=s", "lat=28.6&lon=77.2"} {
		got := w.ask(t, place+"&scale=in")
		if got.AQI != 500 || got.Uncapped == nil || *got.Uncapped != 700 || got.text() != "in 500, Severe, #C00000, PM10" {
			t.Errorf("%s: AQI %d, uncapped %v, %s", place, got.AQI, got.Uncapped, got.text())
		}
		plain := w.ask(t, place)
		if plain.Uncapped != nil {
			t.Errorf("%s without the parameter has the uncapped index %v", place, *plain.Uncapped)
		}
		if plain.Scale != nil {
			t.Errorf("%s without the parameter has the scale %+v", place, *plain.Scale)
		}
	}
}

func TestInvalidScales(t *testing.T) {
	t.Parallel()
	w := india(t)
	for value, want := range map[string]string{
		"usa": "The scale must be in, us, eu or who. Did you mean us?", "US": "The scale must be in, us, eu or who.", "us,eu": "The scale must be in, us, eu or who.", "": "The parameter scale is empty.",
	} {
		status, _, body := w.get(t, "/v1/aqi?city=Delhi&scale="+url.QueryEscape(value))
		var p struct{ Error schema.Problem }
		decode(t, body, &p)
		if status != http.StatusBadRequest || p.Error.Field != "scale" || !strings.HasPrefix(p.Error.Message, want) {
			t.Errorf("%q: got %d, %q of %q; want 400, %q of scale: %s", value, status, p.Error.Message, p.Error.Field, want, body)
		}
	}
}
