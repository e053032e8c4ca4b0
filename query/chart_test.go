package query_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/png"
	"net/http"
	"strings"
	"testing"
	"time"

	"vayu/schema"
)

// chartFixture has twelve days of Delhi without the fourth, a day of hours of a station, and wind at that station.
func chartFixture(t *testing.T) *fixture {
	t.Helper()
	w := newFixture(t)
	w.station(t, w.live, "a", "Delhi", "Delhi", 28.6, 77.2)
	w.station(t, w.live, "b", "Pune", "Maharashtra", 18.5, 73.8)
	for n := range 12 {
		if day := schema.DayOf(hour) - schema.Day(n); n != 3 {
			w.cityDay(t, w.live, "Delhi", "Delhi", day, figure{at: day.End(), aqi: 100 + 30*n})
		}
	}
	var hours []figure
	for n := range 24 {
		hours = append(hours, figure{at: hour.Add(-time.Duration(n) * time.Hour), aqi: 150 + n})
	}
	w.cityHour(t, w.live, "Delhi", "Delhi", hours...)
	w.exec(t, fmt.Sprintf(`INSERT INTO %s.station_hour (station, at, aqi, updated)
		SELECT 'a', toDateTime(%d, 'UTC') - number * 3600 AS hour, 200 + number, hour FROM numbers(24)`, w.live, hour.Unix()))
	for parameter, mean := range map[string]string{"pm25": "10 * number", "wind_speed": "3 * least(1, number)", "wind_direction": "(number % 2) * 90"} {
		w.exec(t, fmt.Sprintf(`INSERT INTO %s.station_parameter_hour (station, parameter, kind, at, mean, count, expected, flag, averaging, updated)
			SELECT 'a', '%s', 'concentration', toDateTime(%d, 'UTC') - number * 3600 AS hour, %s, 1, 1, 'good', 60, hour FROM numbers(24)`,
			w.live, parameter, hour.Unix(), mean))
	}
	w.exec(t, fmt.Sprintf(`INSERT INTO %s.station_parameter_hour (station, parameter, kind, at, mean, count, expected, flag, averaging, updated)
		VALUES ('b', 'pm25', 'concentration', toDateTime(%d, 'UTC'), 5, 1, 1, 'good', 60, toDateTime(%[2]d, 'UTC'))`, w.live, hour.Unix()))
	// Another id of the station has the same hours, and one hour more.
	w.station(t, w.live, "a2", "Delhi", "Delhi", 28.6, 77.2)
	w.exec(t, fmt.Sprintf("INSERT INTO %[1]s.station (*) SELECT * REPLACE ('a' AS same_as, last_seen + 1 AS last_seen) FROM %[1]s.station WHERE id = 'a2'", w.live))
	w.exec(t, fmt.Sprintf(`INSERT INTO %[1]s.station_parameter_hour (station, parameter, kind, at, mean, count, expected, flag, averaging, updated)
		SELECT 'a2', parameter, kind, at, mean + 1, count, expected, flag, averaging, updated FROM %[1]s.station_parameter_hour WHERE station = 'a'
		UNION ALL SELECT 'a2', parameter, kind, at - 86400, mean, count, expected, flag, averaging, updated FROM %[1]s.station_parameter_hour
			WHERE station = 'a' AND at = toDateTime(%[2]d, 'UTC')`, w.live, hour.Add(-23*time.Hour).Unix()))
	w.rollup(t, w.live, hour)
	w.serve(t)
	w.refresh(t)
	return w
}

func TestChartsDescribeTheirFigures(t *testing.T) {
	t.Parallel()
	w := chartFixture(t)
	for query, want := range map[string]string{
		"city=delhi&from=2026-11-09": "Delhi: AQI by day, 2026-11-09 to 2026-11-20|11 of 12 days have an AQI. Lowest 100, Satisfactory, 2026-11-20. Highest 430, Severe, 2026-11-09. Mean 272, Poor. Number of days by category: Good 0, Satisfactory 1, Moderate 2, Poor 3, Very Poor 4, Severe 1.",
		"city=Delhi&kind=calendar":   "Delhi: AQI by day, 2025-11-21 to 2026-11-20|Nov 2026: mean 272 on 11 days.",
		"city=Delhi&from=2026-11-20": "Delhi: AQI by hour, 2026-11-20 to 2026-11-20|14 of 24 hours have an AQI. Lowest 150, Moderate, 2026-11-20 14:00 IST.",
		"station=a&from=2026-11-20":  "AQI by hour, 2026-11-20 to 2026-11-20|14 of 24 hours have an AQI. Lowest 200, Moderate, 2026-11-20 14:00 IST.",
		"station=a&from=2026-11-09":  "AQI by day, 2026-11-09 to 2026-11-20|2 of 12 days have an AQI. Lowest 200, Moderate, 2026-11-20. Highest 214, Poor, 2026-11-19.",
		"city=Delhi&kind=diurnal":    "Delhi: PM2.5 by hour of the day, 2026-10-22 to 2026-11-20|From 25 hourly means of stations. Lowest mean 0 µg/m³, from 13 to 14 o'clock. Highest mean 230 µg/m³, from 14 to 15 o'clock.",
		"city=Delhi&kind=rose":       "Delhi: PM2.5 by wind direction, 2026-10-22 to 2026-11-20|From 25 hours with wind and PM2.5. calm 4.0 % of the hours, mean 0 µg/m³. from N 44.0 % of the hours, mean 120 µg/m³. from E 52.0 % of the hours, mean 128.5 µg/m³.",
	} {
		t.Run(query, func(t *testing.T) {
			status, header, body := w.get(t, "/v1/aqi/chart.svg?"+query)
			if status != http.StatusOK {
				t.Fatalf("status %d: %s", status, body)
			}
			var drawing struct {
				Role  string `xml:"role,attr"`
				Title string `xml:"title"`
				Words string `xml:"desc"`
			}
			if err := xml.Unmarshal([]byte(body), &drawing); err != nil {
				t.Fatalf("the drawing is no XML: %v", err)
			}
			title, words, _ := strings.Cut(want, "|")
			if drawing.Role != "img" {
				t.Errorf("got the role %q, want img", drawing.Role)
			}
			if !strings.HasSuffix(drawing.Title, title) {
				t.Errorf("got the title %q, want %q", drawing.Title, title)
			}
			if !strings.Contains(drawing.Words, words) {
				t.Errorf("got the words %q, want %q", drawing.Words, words)
			}
			if status, _, _ := w.get(t, "/v1/aqi/chart.svg?"+query, "If-None-Match", header.Get("ETag")); status != http.StatusNotModified {
				t.Errorf("the same chart again has the status %d, want 304", status)
			}
		})
	}
}

// The fourth day is missing, so the line has two parts.
func TestLineHasGaps(t *testing.T) {
	t.Parallel()
	w := chartFixture(t)
	for query, want := range map[string]int{"from=2026-11-09": 2, "from=2026-11-09&to=2026-11-16": 1} {
		_, _, body := w.get(t, "/v1/aqi/chart.svg?city=Delhi&theme=light&"+query)
		if got := strings.Count(body, "stroke:#0B5FA5"); got != want {
			t.Errorf("%s: got %d lines, want %d", query, got, want)
		}
	}
}

// A page may have several charts, so each names its texts for itself.
func TestChartsHaveIDsOfTheirOwn(t *testing.T) {
	t.Parallel()
	w := chartFixture(t)
	seen := map[string]bool{}
	for _, query := range []string{"city=Delhi", "city=Delhi&kind=calendar", "station=a"} {
		_, _, body := w.get(t, "/v1/aqi/chart.svg?"+query)
		_, labels, _ := strings.Cut(body, `aria-labelledby="`)
		labels, _, _ = strings.Cut(labels, `"`)
		for id := range strings.FieldsSeq(labels) {
			if seen[id] {
				t.Errorf("%s: another chart has the id %q", query, id)
			}
			seen[id] = true
			if got := strings.Count(body, ` id="`+id+`"`); got != 1 {
				t.Errorf("%s: got %d texts with the id %q, want 1", query, got, id)
			}
		}
	}
	if len(seen) != 6 {
		t.Errorf("got %d ids, want 6", len(seen))
	}
}

// The frame of a day without figures has a contrast of at least 3 to its background (WCAG 2.2, 1.4.11).
func TestFramesOfDaysAreVisible(t *testing.T) {
	t.Parallel()
	w := chartFixture(t)
	for theme, colour := range map[string]string{"light": "#4D5A68", "dark": "#A9B6C3"} { // 7.0 and 7.9 to the paper
		_, _, body := w.get(t, "/v1/aqi/chart.svg?city=Delhi&kind=calendar&theme="+theme)
		if got := strings.Count(body, "stroke:"+colour); got < 365-11 {
			t.Errorf("%s: got %d frames of the colour %s, want one of each day without figures", theme, got, colour)
		}
	}
}

func TestChartThemes(t *testing.T) {
	t.Parallel()
	w := chartFixture(t)
	for query, want := range map[string][]bool{"": {true, true}, "&theme=light": {false, true}, "&theme=dark": {false, false}} {
		_, _, body := w.get(t, "/v1/aqi/chart.svg?city=Delhi"+query)
		if got := strings.Contains(body, "prefers-color-scheme:dark"); got != want[0] {
			t.Errorf("theme %q: the drawing follows the browser: %t, want %t", query, got, want[0])
		}
		if got := strings.Contains(body, `style="fill:#FFFFFF"`); got != want[1] {
			t.Errorf("theme %q: the paper is white: %t, want %t", query, got, want[1])
		}
	}
}

func TestPictureOfChart(t *testing.T) {
	t.Parallel()
	w := chartFixture(t)
	for _, kind := range []string{"line", "calendar", "diurnal", "rose"} {
		status, header, body := w.get(t, "/v1/aqi/chart.png?city=Delhi&kind="+kind)
		if status != http.StatusOK || header.Get("Content-Type") != "image/png" {
			t.Errorf("%s: status %d and type %q: %.200s", kind, status, header.Get("Content-Type"), body)
		}
		_, words, _ := strings.Cut(body, "iTXtDescription\x00\x00\x00\x00\x00")
		if !strings.HasPrefix(words, map[string]string{"line": "11 of 30 days have an AQI.", "calendar": "11 of 365 days", "diurnal": "From 25 hourly means", "rose": "From 25 hours"}[kind]) {
			t.Errorf("%s: the picture has the description %.60q", kind, words)
		}
		picture, err := png.Decode(bytes.NewReader([]byte(body)))
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		if got := picture.Bounds().Dx(); got != 1800 {
			t.Errorf("%s: got a width of %d pixels, want 1800", kind, got)
		}
	}
}

func TestEveryChartAcceptsTheDefaultParameter(t *testing.T) {
	t.Parallel()
	w := chartFixture(t)
	for _, kind := range [...]string{"line", "calendar", "diurnal", "rose"} {
		t.Run(kind, func(t *testing.T) {
			wantStatus, _, want := w.get(t, "/v1/aqi/chart.svg?city=Delhi&kind="+kind)
			status, _, got := w.get(t, "/v1/aqi/chart.svg?city=Delhi&parameter=pm25&kind="+kind)
			if status != wantStatus {
				t.Errorf("got status %d, want %d", status, wantStatus)
			}
			if got != want {
				t.Errorf("got another chart with the default: %.200s", got)
			}
		})
	}
}

func TestInvalidCharts(t *testing.T) {
	t.Parallel()
	w := chartFixture(t)
	for query, want := range map[string]string{
		"":                                 "400 city A chart requires a city or a station.",
		"city=Delhi&station=a":             "400 station Send only one of city and station.",
		"city=Delih":                       "404 city No city is called “Delih”. Did you mean Delhi?",
		"station=c":                        "404 station There is no such station. GET /v1/stations lists them.",
		"city=Delhi&kind=pie":              "400 kind The kind must be line, calendar, diurnal or rose.",
		"city=Delhi&theme=blue":            "400 theme The theme must be light or dark.",
		"city=Delhi&parameter=o3":          "400 parameter A line shows the AQI. The kinds diurnal and rose take a parameter.",
		"city=Delhi&kind=rose&parameter=x": "400 parameter The parameter must be pm25, pm10, no2, so2, co, o3, nh3 or pb.",
		"city=Delhi&from=20-11-2026":       "400 from The parameter from must be an existing date, as YYYY-MM-DD.",
		"city=Delhi&to=2026-11-21":         "400 to The range ends in the future (Indian time).",
		"city=Delhi&from=2026-11-20&to=2026-11-19": "400 from The range ends before it begins.",
		"city=Delhi&from=2025-11-19":               "400 to A range has at most 366 days.",
		"city=Delhi&from=2025-11-19&to=2025-11-20": "404 from There are no data for Delhi for 2025-11-19 to 2025-11-20.",
		"city=Delhi&colour=red":                    "400 colour There is no parameter colour.",
		"city=Pune&kind=rose":                      "404 kind No station of Pune has hourly means of wind speed, wind direction and PM2.5 for 2026-10-22 to 2026-11-20. The kinds line and calendar need only the AQI.",
		"city=Pune&kind=diurnal&parameter=o3":      "404 parameter There are no hourly means of O3 for Pune for 2026-10-22 to 2026-11-20. A source that publishes only sub-indices of the AQI has none.",
	} {
		t.Run(query, func(t *testing.T) {
			status, _, body := w.get(t, "/v1/aqi/chart.svg?"+query)
			parts := strings.SplitN(want, " ", 3)
			if fmt.Sprint(status) != parts[0] {
				t.Errorf("got the status %d, want %s: %s", status, parts[0], body)
			}
			if !strings.Contains(body, `"field":"`+parts[1]+`"`) {
				t.Errorf("got %s, want the field %s", body, parts[1])
			}
			if !strings.Contains(body, `"message":"`+parts[2]+`"`) {
				t.Errorf("got %s, want the message %s", body, parts[2])
			}
		})
	}
}
