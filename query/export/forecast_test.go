package export_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

// Forecasts are of cities and of stations. Those of a replay are an experiment of the operator.
func TestForecasts(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.exec(`INSERT INTO air.forecast (run, place_kind, place, state, parameter, day, horizon, model, served, p10, p50, p90, issued_at) VALUES
		('', 'city', 'Pune', 'Maharashtra', 'aqi', '2026-11-22', 2, 'persistence', 1, 90, 100, 110, '2026-11-20 02:00:00'),
		('', 'city', 'Pune', 'Maharashtra', 'pm25', '2026-11-22', 2, 'persistence', 1, 40, 50, 60, '2026-11-20 02:00:00'),
		('', 'city', 'Delhi', 'Delhi', 'aqi', '2026-11-22', 2, 'persistence', 1, 300, 310, 320, '2026-11-20 02:00:00'),
		('', 'station', 's0', '', 'aqi', '2026-11-21', 1, 'persistence', 1, 300, 311, 320, '2026-11-20 02:00:00'),
		('replay', 'city', 'Pune', 'Maharashtra', 'aqi', '2026-11-22', 2, 'persistence', 1, 1, 2, 3, '2026-11-20 02:00:00')`)
	for query, want := range map[string]struct{ p50, attribution string }{
		"format=csv":                                   {"310 100 50 311", "CPCB"},
		"city=Pune&format=csv":                         {"100 50", "MPCB"},
		"city=Pune&parameters=aqi&format=csv":          {"100", "MPCB"},
		"city=Pune&parameters=aqi,aqi&format=csv":      {"100", "MPCB"},
		"state=Maharashtra&parameters=pm25&format=csv": {"50", "MPCB"},
		"station=s0&format=csv":                        {"311", "CPCB"},
		"from=2026-11-22&to=2026-12-01&format=csv":     {"310 100 50", "CPCB"},
	} {
		t.Run(query, func(t *testing.T) {
			t.Parallel()
			status, header, body := w.get(t, "forecast?"+query)
			if status != http.StatusOK {
				t.Fatalf("status %d: %s", status, body)
			}
			if got := central(body); got != want.p50 {
				t.Errorf("got %q, want %q", got, want.p50)
			}
			if text := header.Get("X-SERVICE-Attribution"); !strings.Contains(text, want.attribution) {
				t.Errorf("got the attribution %q, want %s", text, want.attribution)
			}
		})
	}
}

// Forecasts of hours are selected by the day of their base. Of two issues of a base the first counts.
func TestForecastsOfHours(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.exec(`INSERT INTO air.forecast_hour (run, place_kind, place, state, parameter, base, horizon, at, model, served, p10, p50, p90, issued_at) VALUES
		('', 'city', 'Pune', 'Maharashtra', 'pm25', '2026-11-20 12:30:00', 1, '2026-11-20 13:30:00', 'persistence', 1, 40, 50, 60, '2026-11-20 13:40:00'),
		('', 'city', 'Pune', 'Maharashtra', 'pm25', '2026-11-20 12:30:00', 12, '2026-11-21 00:30:00', 'persistence', 1, 40, 51, 60, '2026-11-20 13:40:00'),
		('', 'city', 'Delhi', 'Delhi', 'pm25', '2026-11-20 18:30:00', 1, '2026-11-20 19:30:00', 'persistence', 1, 300, 310, 320, '2026-11-20 19:40:00'),
		('', 'station', 's0', '', 'pm25', '2026-11-21 00:30:00', 1, '2026-11-21 01:30:00', 'persistence', 1, 300, 311, 320, '2026-11-21 01:40:00'),
		('test', 'city', 'Pune', 'Maharashtra', 'pm25', '2026-11-20 12:30:00', 1, '2026-11-20 13:30:00', 'persistence', 1, 1, 2, 3, '2026-11-20 13:40:00')`)
	w.exec(`INSERT INTO air.forecast_hour (run, place_kind, place, state, parameter, base, horizon, at, model, served, p10, p50, p90, issued_at) VALUES
		('', 'city', 'Pune', 'Maharashtra', 'pm25', '2026-11-20 12:30:00', 1, '2026-11-20 13:30:00', 'persistence', 1, 40, 99, 60, '2026-11-20 14:40:00')`)
	for query, want := range map[string]string{
		"format=csv":           "310 50 51 311",
		"city=Pune&format=csv": "50 51",
		"state=Maharashtra&parameters=pm25&format=csv": "50 51",
		"parameters=o3&format=csv":                     "",
		"station=s0&format=csv":                        "311",
		"from=2026-11-21&format=csv":                   "311",
		"to=2026-11-20&format=csv":                     "310 50 51",
	} {
		t.Run(query, func(t *testing.T) {
			t.Parallel()
			status, _, body := w.get(t, "forecast_hour?"+query)
			if status != http.StatusOK {
				t.Fatalf("status %d: %s", status, body)
			}
			if got := central(body); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// central returns the values of the column p50 of a CSV.
func central(body []byte) string {
	lines := strings.Split(strings.TrimSpace(string(body)), "\n")
	column := slices.Index(strings.Split(lines[0], ","), "p50")
	var all []string
	for _, line := range lines[1:] {
		all = append(all, strings.Split(line, ",")[column])
	}
	return strings.Join(all, " ")
}
