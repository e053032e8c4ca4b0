package query_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vayu/query"
	"vayu/schema"
	"vayu/schema/air"
)

// issue stores an issue of forecasts from the days up to yesterday: Delhi and one of its stations have forecasts, Pune
// has none, and the forecasts of ten days ago can be scored.
func (w *fixture) issue(t testing.TB) {
	t.Helper()
	base := schema.DayOf(now) - 1
	w.forecasts(t, base, "now() - 3600")
	w.forecasts(t, base-10, "now() - 864000")
	w.exec(t, fmt.Sprintf(`INSERT INTO %s.forecast (run, place_kind, place, state, parameter, day, horizon, model, served, reason, issued_at)
		SELECT '', 'city', 'Pune', 'Maharashtra', 'pm25', toDate(%d), 0, 'none', 1, 'no_recent_data', max(issued_at) FROM %[1]s.forecast_issue`, w.live, base))
	for _, world := range schema.Worlds {
		if err := w.service.RefreshForecasts(t.Context(), world); err != nil {
			t.Fatal(err)
		}
	}
}

func (w *fixture) forecasts(t testing.TB, base schema.Day, at string) {
	t.Helper()
	w.exec(t, fmt.Sprintf("INSERT INTO %s.forecast_issue (run, base, issued_at, fitted_at, forecasts) VALUES ('', toDate(%d), toDateTime64(%s, 3, 'UTC'), '2026-11-16 20:35:00', 72)", w.live, base, at))
	for _, place := range [...]string{"'city' AS kind, 'Delhi' AS place, 'Delhi' AS state", "'station' AS kind, 'cpcb-mandir-marg' AS place, '' AS state"} {
		w.exec(t, fmt.Sprintf(`INSERT INTO %s.forecast (run, place_kind, place, state, parameter, day, horizon, model, served, p10, p50, p90, moderate, poor, history, fitted_at, issued_at)
			SELECT '', kind, place, state, parameter, toDate(%d) + horizon, horizon, model, model = 'damped_anomaly', middle - 20, middle, middle + 20, 0.9, 0.1, 900, '2026-11-16 20:35:00',
				(SELECT issued_at FROM %[1]s.forecast_issue FINAL WHERE base = toDate(%[2]d))
			FROM (SELECT %[3]s, arrayJoin([1, 2, 3, 4]) AS horizon, arrayJoin(['aqi', 'pm25', 'co']) AS parameter, arrayJoin(['damped_anomaly', 'persistence', 'climatology']) AS model, 105 + horizon + 10 * (model = 'persistence') AS middle)`,
			w.live, base, place))
	}
}

func TestForecastOfACity(t *testing.T) {
	t.Parallel()
	w := india(t)
	w.issue(t)
	status, header, body := w.get(t, "/v1/forecast?city=Delhi")
	if status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	var got air.Forecast
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatal(err)
	}
	today := schema.DayOf(now)
	if len(got.Days) != 3 || got.Days[0].Date != (today+1).String() || got.Days[0].Horizon != 2 {
		t.Fatalf("days %+v, want the three after today", got.Days)
	}
	first := got.Days[0]
	if first.AQI.P50 != 107 || *first.Category != "Moderate" || first.Categories.Poor != 0.1 {
		t.Errorf("the AQI of tomorrow: %+v %s %+v, want 107 with the probabilities", first.AQI, *first.Category, first.Categories)
	}
	if first.PM25 == nil || first.PM10 != nil {
		t.Errorf("concentrations: PM2.5 %v, PM10 %v, want only the first", first.PM25, first.PM10)
	}
	if got.Model != "damped_anomaly" || got.Reason != nil {
		t.Errorf("model %s, reason %v, want the damped anomaly", got.Model, got.Reason)
	}
	if s := got.Score; s == nil || s.Forecasts != 3 || !s.BeatsPersistence {
		t.Errorf("score %+v, want that of the three horizons that were shown, better than persistence", s)
	}
	if status, _, _ := w.get(t, "/v1/forecast?city=Delhi", "If-None-Match", header.Get("ETag")); status != http.StatusNotModified {
		t.Errorf("the same ETag: status %d, want 304", status)
	}
	if _, _, body := w.get(t, "/v1/forecast?city=Delhi&days=1"); strings.Count(body, `"date"`) != 1 {
		t.Errorf("days=1: %s", body)
	}
}

// TestForecastOfALatePlace: a later issue of the same base has Pune only. It hides no forecasts of the earlier one.
func TestForecastOfALatePlace(t *testing.T) {
	t.Parallel()
	w := india(t)
	w.issue(t)
	_, _, before := w.get(t, "/v1/forecast?city=Delhi")
	base := schema.DayOf(now) - 1
	w.exec(t, fmt.Sprintf(`INSERT INTO %s.forecast SELECT * REPLACE ('Pune' AS place, 'Maharashtra' AS state, issued_at + INTERVAL 30 MINUTE AS issued_at)
		FROM (SELECT * FROM %[1]s.forecast FINAL WHERE place = 'Delhi' AND day - horizon = toDate(%d))`, w.live, base))
	w.exec(t, fmt.Sprintf(`INSERT INTO %s.forecast_issue (run, base, issued_at, fitted_at, forecasts, recorded_at)
		SELECT run, base, issued_at + INTERVAL 30 MINUTE, fitted_at, 108, recorded_at + INTERVAL 1 SECOND FROM %[1]s.forecast_issue FINAL WHERE base = toDate(%d)`, w.live, base))
	if err := w.service.RefreshForecasts(t.Context(), schema.Live); err != nil {
		t.Fatal(err)
	}
	if _, _, body := w.get(t, "/v1/forecast?city=Delhi"); body != before {
		t.Errorf("Delhi: got %s, want as before %s", body, before)
	}
	var early, late air.Forecast
	status, _, body := w.get(t, "/v1/forecast?city=Pune")
	if err := errors.Join(json.Unmarshal([]byte(before), &early), json.Unmarshal([]byte(body), &late)); err != nil || status != http.StatusOK {
		t.Fatalf("Pune: %d %s: %v", status, body, err)
	}
	if got := late.IssuedAt.Sub(early.IssuedAt); got != 30*time.Minute {
		t.Errorf("Pune was issued %v after Delhi, want 30 minutes", got)
	}
}

// TestReasonOfPersistence has a station without an AQI. Its SO2 has no forecast, and the reason of PM2.5 changes on the way.
func TestReasonOfPersistence(t *testing.T) {
	t.Parallel()
	w := india(t)
	w.issue(t)
	base := schema.DayOf(now) - 1
	w.exec(t, fmt.Sprintf(`INSERT INTO %s.forecast (run, place_kind, place, state, parameter, day, horizon, model, served, p10, p50, p90, reason, issued_at)
		SELECT '', 'city', 'Pune', 'Maharashtra', row.1, toDate(%d) + row.2, row.2, row.3, 1, 10, 20, 30, row.4, issued_at
		FROM (SELECT arrayJoin([('so2', 0, 'none', 'no_recent_data'), ('no2', 2, 'persistence', 'recent_gaps'), ('pm25', 1, 'persistence', 'recent_gaps'),
			('pm25', 2, 'persistence', 'persistence_not_beaten'), ('pm25', 3, 'persistence', 'too_little_history')]) AS row, (SELECT max(issued_at) FROM %[1]s.forecast_issue) AS issued_at)`, w.live, base))
	w.exec(t, fmt.Sprintf("INSERT INTO %s.forecast_issue (run, base, issued_at, recorded_at) SELECT run, base, issued_at + INTERVAL 1 SECOND, recorded_at + INTERVAL 1 SECOND FROM %[1]s.forecast_issue FINAL WHERE base = toDate(%d)", w.live, base))
	if err := w.service.RefreshForecasts(t.Context(), schema.Live); err != nil {
		t.Fatal(err)
	}
	var got air.Forecast
	status, _, body := w.get(t, "/v1/forecast?city=Pune")
	if err := json.Unmarshal([]byte(body), &got); err != nil || status != http.StatusOK {
		t.Fatalf("%d %s: %v", status, body, err)
	}
	if got.Reason == nil {
		t.Fatalf("%s, want a reason", body)
	}
	if got.Model != "persistence" || *got.Reason != "persistence_not_beaten" {
		t.Errorf("model %s, reason %s, want persistence with the reason of the PM2.5 of tomorrow", got.Model, *got.Reason)
	}
}

// issueHours stores forecasts of the hours after the hour before last: of Delhi and of one of its stations. Pune has none.
func (w *fixture) issueHours(t testing.TB) {
	t.Helper()
	base := now.Truncate(time.Hour).Add(-90 * time.Minute).UTC().Format(time.DateTime)
	w.exec(t, fmt.Sprintf("INSERT INTO %s.forecast_hour_issue (run, base, issued_at, fitted_at, forecasts) VALUES ('', '%s', '%[2]s', '%[2]s', 240)", w.live, base))
	for _, place := range [...]string{"'city', 'Delhi', 'Delhi'", "'station', 'cpcb-mandir-marg', ''"} {
		w.exec(t, fmt.Sprintf(`INSERT INTO %s.forecast_hour (run, place_kind, place, state, parameter, base, horizon, at, model, served, p10, p50, p90, issued_at)
			SELECT '', %s, 'pm25', toDateTime('%s', 'UTC'), number + 1, toDateTime('%[3]s', 'UTC') + 3600 * (number + 1), model, model = 'persistence' = (number >= 24), number, number + 10, number + 20, toDateTime64('%[3]s', 3, 'UTC')
			FROM (SELECT number, arrayJoin(['diurnal_anomaly', 'persistence']) AS model FROM numbers(60))`, w.live, place, base))
		w.exec(t, fmt.Sprintf(`INSERT INTO %s.forecast_hour_score (run, fitted_at, place_kind, place, state, until, model, forecasts, mae, coverage80)
			SELECT '', toDateTime64('%s', 3, 'UTC'), %s, row.1, row.2, row.3, row.4, 0.8
			FROM (SELECT arrayJoin([(6, 'served', 30, 10.), (6, 'repeated', 30, 12.), (48, 'served', 10, 30.), (48, 'repeated', 10, 28.), (60, 'served', 10, 99.)]) AS row)`, w.live, base, place))
	}
	w.exec(t, fmt.Sprintf("INSERT INTO %s.forecast_hour (run, place_kind, place, state, parameter, base, at, model, served, reason, issued_at) VALUES ('', 'city', 'Mumbai', 'Maharashtra', 'pm25', '%s', '%[2]s', 'none', 1, 'constant_series', '%[2]s')", w.live, base))
	if err := w.service.RefreshForecasts(t.Context(), schema.Live); err != nil {
		t.Fatal(err)
	}
}

// TestForecastOfHours: the hours after now, those of the model up to 24 hours after the base.
func TestForecastOfHours(t *testing.T) {
	t.Parallel()
	w := india(t)
	w.issue(t)
	_, _, days := w.get(t, "/v1/forecast?city=Delhi")
	if strings.Contains(days, `"hourly"`) {
		t.Errorf("hours that were not asked for: %s", days)
	}
	if _, _, body := w.get(t, "/v1/forecast?city=Delhi&hours=48"); !strings.Contains(body, `"hourly":{"base":null,"issued_at":null,"fitted_at":null,"reason":"not_issued","hours":[],"score":null}`) {
		t.Errorf("before the first issue of hours: %s", body)
	}
	w.issueHours(t)
	for _, place := range []string{"city=Delhi", "lat=28.63&lon=77.21"} {
		var got air.Forecast
		if _, body := w.getInto(t, "/v1/forecast?"+place+"&hours=48", &got); got.Hourly == nil {
			t.Fatalf("%s: no hours: %s", place, body)
		}
		h := got.Hourly
		if len(h.Hours) != 48 || !h.Hours[0].At.After(now) || h.Hours[0].At.After(now.Add(time.Hour)) {
			t.Fatalf("%s: %d hours from %v, want 48 after %v", place, len(h.Hours), h.Hours[0].At, now)
		}
		if first, last := h.Hours[0].PM25, h.Hours[47].PM25; first.Model != "diurnal_anomaly" || last.Model != "persistence" || first.P90-first.P10 != 20 {
			t.Errorf("%s: first %+v, last %+v, want the model, then persistence", place, first, last)
		}
		if want := (air.ForecastScore{Days: 90, Forecasts: 40, MAE: 15, PersistenceMAE: 16, Coverage80: 0.8, BeatsPersistence: true}); h.Score == nil || *h.Score != want {
			t.Errorf("%s: score %+v, want %+v", place, h.Score, want)
		}
		if h.Reason != nil || h.Base == nil || len(got.Days) != 3 {
			t.Errorf("%s: reason %v, base %v, %d days", place, h.Reason, h.Base, len(got.Days))
		}
	}
	if _, _, body := w.get(t, "/v1/forecast?city=Delhi&hours=6&days=1"); strings.Count(body, `"at"`) != 6 {
		t.Errorf("hours=6: %s", body)
	}
}

func TestForecastOfAPosition(t *testing.T) {
	t.Parallel()
	w := india(t)
	w.issue(t)
	status, _, body := w.get(t, "/v1/forecast?lat=28.63&lon=77.21")
	if status != http.StatusOK || !strings.Contains(body, `"station":{"id":"cpcb-mandir-marg"`) {
		t.Errorf("%d %s", status, body)
	}
}

func TestForecastProblems(t *testing.T) {
	t.Parallel()
	w := india(t)
	w.issue(t)
	for query, want := range map[string]string{
		"":                           `400 "field":"city"`,
		"city=Delhi&days=4":          `400 "field":"days"`,
		"days=4&hours=0":             `400 "field":"city"`,
		"days=4&lat=28.6":            `400 "field":"lon"`,
		"pincode=1&days=4":           `400 "field":"pincode"`,
		"city=Delhi&days=4&hours=0":  `400 "field":"days"`,
		"city=Delhi&days=":           `400 "field":"days"`,
		"city=Delhi&hours=0":         `400 "field":"hours"`,
		"city=Delhi&hours=49":        `400 "field":"hours"`,
		"city=Delhi&hours=+6":        `400 "field":"hours"`,
		"city=Delhi&lat=28":          `400 "field":"lat"`,
		"lat=28":                     `400 "field":"lon"`,
		"city=Delhi&date=2026-11-18": `400 "field":"date"`,
		"pincode=1":                  `400 "field":"pincode"`,
		"city=Atlantis":              `404 location_not_found`,
		"city=Aurangabad":            `400 ambiguous_location`,
		"city=Pune":                  `404 the last day has no data`,
		"city=Kochi":                 `404 no complete day within the last hundred days`,
		"lat=11.6&lon=92.7":          `404 no_station_nearby`,
	} {
		t.Run(query, func(t *testing.T) {
			code, text, _ := strings.Cut(want, " ")
			if status, _, body := w.get(t, "/v1/forecast?"+query); fmt.Sprint(status) != code || !strings.Contains(body, text) {
				t.Errorf("got %d %s, want %s", status, body, want)
			}
		})
	}
}

func TestForecastScore(t *testing.T) {
	t.Parallel()
	w := india(t)
	if status, _, body := w.get(t, "/v1/forecast/score"); status != http.StatusNotFound {
		t.Errorf("before the first issue: %d %s, want 404", status, body)
	}
	w.issue(t)
	for _, query := range []string{"", "?city=Delhi"} {
		status, _, body := w.get(t, "/v1/forecast/score"+query)
		var got air.ForecastScores
		if err := json.Unmarshal([]byte(body), &got); err != nil || status != http.StatusOK {
			t.Fatalf("%d %s: %v", status, body, err)
		}
		// Three figures, four horizons and three models; nine events of the AQI.
		if len(got.Models) != 36 || len(got.Warnings) != 108 {
			t.Errorf("%q: %d scores and %d events, want 36 and 108", query, len(got.Models), len(got.Warnings))
		}
		// Two models and three events. The probability of an AQI over 200 was 0.1 for four days, and none came.
		want := air.Reliability{Event: "over 200", Model: "damped_anomaly", Probability: 0.1, Forecasts: 4}
		if len(got.Reliability) != 6 || got.Reliability[0] != want {
			t.Errorf("%q: reliability %+v, want six rows that begin with %+v", query, got.Reliability, want)
		}
	}
	if _, _, body := w.get(t, "/v1/forecast/score?city=Pune"); !strings.Contains(body, `"models":[]`) {
		t.Errorf("a city without forecasts: %s", body)
	}
}

// TestForecastsOfTheSandboxAreItsOwn: the live forecasts never answer a sandbox key.
func TestForecastsOfTheSandboxAreItsOwn(t *testing.T) {
	t.Parallel()
	w := india(t)
	w.issue(t)
	if status, _, body := w.do(t, http.MethodGet, "/v1/forecast?city=Delhi", "Authorization", "Bearer "+sandboxKey); status != http.StatusNotFound {
		t.Errorf("%d %s, want 404", status, body)
	}
}

// TestForecastsSurviveARestart starts the service again without ClickHouse: the files answer.
func TestForecastsSurviveARestart(t *testing.T) {
	t.Parallel()
	w := india(t)
	dir := t.TempDir()
	inDir := func(c *query.Config) { c.Directory = dir }
	w.serve(t, inDir)
	w.refresh(t)
	w.issue(t)
	w.issueHours(t)
	paths := []string{"/v1/forecast?city=Delhi", "/v1/forecast?city=Delhi&hours=48", "/v1/forecast?lat=28.63&lon=77.21", "/v1/forecast/score?city=Delhi", "/v1/forecast/score"}
	want := make([]string, len(paths))
	for i, path := range paths {
		_, _, want[i] = w.get(t, path)
	}
	restart := func() {
		conn := &flakyConn{Conn: w.conn}
		conn.down.Store(true)
		w.serve(t, inDir, func(c *query.Config) { c.Conn = conn })
		if n := w.service.Restore(); n != len(schema.Worlds) {
			t.Fatalf("%d worlds restored, want all", n)
		}
	}
	restart()
	for i, path := range paths {
		if status, _, body := w.get(t, path); status != http.StatusOK || body != want[i] {
			t.Errorf("%s: got %d %s, want %s", path, status, body, want[i])
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "live.forecasts.json"), []byte(`{"Version":3,`), 0o600); err != nil {
		t.Fatal(err)
	}
	restart()
	if status, _, body := w.get(t, paths[0]); status != http.StatusNotFound {
		t.Errorf("with a torn file: got %d %s, want 404", status, body)
	}
}
