package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const schools = `local: true
about: monitors of schools
licence: CC0
attribution: Schools
homepage: https://schools.example.com
schedule: "12 * * * *"
auth:
  header: {name: X-Key, value: "${SCHOOLS_KEY}"}
request:
  url: URL/v2/measurements
  query: {since: "{from}", key: "${SCHOOLS_KEY}"}
records: rows
station: {id: school, name: name, latitude: lat, longitude: lon, kind: sensor}
time: {field: hour, format: "2006-01-02T15:04:05Z07:00", interval: end}
averaging: 1h
readings:
  pm25: {value: pm25, unit: µg/m³}
`

// sourceCommand runs `vayu source` with the description schools.
func sourceCommand(t *testing.T, serve http.HandlerFunc, args ...string) (string, error) {
	t.Helper()
	server := httptest.NewServer(serve)
	t.Cleanup(server.Close)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "schools.yaml"), []byte(strings.ReplaceAll(schools, "URL", server.URL)), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SCHOOLS_KEY", "secret-of-schools")
	var out bytes.Buffer
	root := newRoot()
	root.SetOut(&out)
	root.SetErr(&out)
	root.SetArgs(append([]string{"source", "--source-dir", dir, "--data", t.TempDir()}, args...))
	err := root.ExecuteContext(t.Context())
	return strings.ReplaceAll(out.String(), server.URL, "http://schools"), err
}

func TestPreviewShowsRequestsAndRecords(t *testing.T) {
	hour := time.Now().UTC().Truncate(time.Hour).Format(time.RFC3339)
	serve := func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Key") != "secret-of-schools" {
			w.WriteHeader(http.StatusForbidden)
		}
		_, _ = fmt.Fprintf(w, `{"echo":"secret-of-schools","rows":[{"school":1,"name":"A","lat":28.6,"lon":77.2,"hour":%q,"pm25":61.5},{"school":2,"name":"B","lat":28.7,"lon":77.2,"hour":%q,"pm25":"6x"}]}`, hour, hour)
	}
	text, err := sourceCommand(t, serve, "preview", "schools")
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, want := range []string{"GET http://schools/v2/measurements?", "status 200", `"echo":"***"`, "schools-1", "61.5", "1 readings of 1 stations", "bad_number, record 2, pm25: {\"school\":2"} {
		if !strings.Contains(text, want) {
			t.Errorf("the preview lacks %q:\n%s", want, text)
		}
	}
	text, err = sourceCommand(t, serve, "preview", "schools", "--json", "--from", "2026-01-01T00:00:00Z", "--to", "2026-01-02T00:00:00Z")
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if strings.Contains(text, "secret") {
		t.Errorf("the preview has the key:\n%s", text)
	}
	var got struct {
		Requests []struct {
			Request string
			Status  int
		}
		Readings []struct {
			Station, Parameter, Unit, At string
			Value                        float64
			Averaging                    int `json:"averaging_minutes"`
		}
		Stations []struct{ ID, Name string }
		Rejected map[string]int
		Values   []struct {
			Reason, Field string
			Line          int
		} `json:"rejected_values"`
		Received struct{ Requests, Bytes int }
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if len(got.Requests) != 1 || !strings.Contains(got.Requests[0].Request, "since=2026-01-01T00%3A00%3A00Z") || got.Requests[0].Status != 200 {
		t.Errorf("requests %+v", got.Requests)
	}
	if len(got.Readings) != 1 || got.Readings[0].Parameter != "pm25" || got.Readings[0].At != hour || got.Readings[0].Averaging != 60 {
		t.Errorf("readings %+v", got.Readings)
	}
	if len(got.Values) != 1 || got.Values[0].Reason != "bad_number" || got.Values[0].Line != 2 {
		t.Errorf("rejected values %+v", got.Values)
	}
	if diff := cmp.Diff(map[string]int{"bad_number": 1}, got.Rejected); diff != "" {
		t.Errorf("rejected (-want +got):\n%s", diff)
	}
}

// A path of the description that no record has is a warning, because the fetch does not fail.
func TestPreviewWarnsOfAbsentPaths(t *testing.T) {
	hour := time.Now().UTC().Truncate(time.Hour).Format(time.RFC3339)
	serve := func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `{"rows":[{"school":1,"label":"A","lat":28.6,"lon":77.2,"hour":%q,"pm25":61.5}]}`, hour)
	}
	text, err := sourceCommand(t, serve, "preview", "schools")
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if want := `warning: station.name: no field "name" in any of 1 records`; !strings.Contains(text, want) {
		t.Errorf("the preview lacks %q:\n%s", want, text)
	}
	text, err = sourceCommand(t, serve, "preview", "schools", "--json")
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	var got struct {
		Absent []struct {
			Key, Path string
			Records   int
		} `json:"absent_paths"`
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if len(got.Absent) != 1 || got.Absent[0].Key != "station.name" || got.Absent[0].Path != "name" || got.Absent[0].Records != 1 {
		t.Errorf("absent paths %+v, want station.name", got.Absent)
	}
}

// A refused request is shown with the text of the API, which explains it.
func TestPreviewShowsRefusals(t *testing.T) {
	text, err := sourceCommand(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"error":"the key secret-of-schools has expired"}`))
	}, "preview", "schools")
	if err == nil || !strings.Contains(text, "status 401") || !strings.Contains(text, "the key *** has expired") {
		t.Errorf("error %v, and the output:\n%s", err, text)
	}
	text, err = sourceCommand(t, func(http.ResponseWriter, *http.Request) {}, "preview", "schools", "--from", "2026-01-02", "--to", "2026-01-01T00:00:00Z")
	if err == nil || !strings.Contains(err.Error(), "--to") {
		t.Errorf("an empty time range: error %v\n%s", err, text)
	}
}

// A recorded case has no secret, and the kit passes with it.
func TestRecordedCasePassesTheCheck(t *testing.T) {
	dir := t.TempDir()
	hour := time.Now().UTC().Truncate(time.Hour).Format(time.RFC3339)
	serve := func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `{"token":"of-a-reader","rows":[{"school":1,"name":"A","lat":28.6,"lon":77.2,"hour":%q,"pm25":61.5}]}`, hour)
	}
	text, err := sourceCommand(t, serve, "record", "schools", "--cases", dir, "--case", "first")
	if err != nil || !strings.Contains(text, "1 readings of 1 stations") || !strings.Contains(text, "token (1)") {
		t.Fatalf("%v\n%s", err, text)
	}
	text, err = sourceCommand(t, serve, "check", "schools", "--cases", dir)
	if err != nil || !strings.Contains(text, "case first            pass") {
		t.Errorf("%v\n%s", err, text)
	}
	if err := os.WriteFile(filepath.Join(dir, "first", "readings.csv"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	text, err = sourceCommand(t, serve, "check", "schools", "--cases", dir, "--json")
	var report struct {
		Checks []struct{ Check, Result, Reason string }
	}
	if jsonErr := json.Unmarshal([]byte(text), &report); jsonErr != nil || err == nil || !strings.Contains(err.Error(), "checks of source \"schools\" failed") {
		t.Errorf("errors %v and %v, and the output:\n%s", jsonErr, err, text)
	}
	if got := report.Checks[1]; got.Result != "fail" || !strings.Contains(got.Reason, "+schools-1,pm25") {
		t.Errorf("the case: %+v", got)
	}
}

// A draft says what it guessed, and its case passes once its author has read the terms.
func TestDraftedDescription(t *testing.T) {
	dir := t.TempDir()
	reply := filepath.Join(dir, "reply.json")
	rows := `[{"site": 7, "at": "2026-06-09T12:00:00Z", "lat": 28.7, "lon": 77.1, "pm25_ugm3": 61.5, "no2": 21}]`
	if err := os.WriteFile(reply, []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	text, err := sourceCommand(t, nil, "new", "garden", "--from", reply, "--dir", dir)
	if err != nil || !strings.Contains(text, "readings.pm25.unit") || !strings.Contains(text, "readings.no2.unit: FILL-IN stands for") {
		t.Fatalf("%v\n%s", err, text)
	}
	file := filepath.Join(dir, "garden.yaml")
	yaml, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	filled := strings.NewReplacer("unit: FILL-IN", "unit: ppb", "https://FILL-IN.example.com", "https://api.example.com", " unknown ", " CC0 ").Replace(string(yaml))
	if err := os.WriteFile(file, []byte(filled), 0o600); err != nil {
		t.Fatal(err)
	}
	text, err = sourceCommand(t, nil, "check", file, "--accept")
	if err != nil || !strings.Contains(text, "2 readings, 0 rejected values") {
		t.Errorf("%v\n%s", err, text)
	}
}

func TestChecksNeedADescription(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"check", "cpcb"}, "code in Go"},
		{[]string{"check", "scools"}, "there is no source"},
		{[]string{"check", "missing.yaml"}, "no such file"},
		{[]string{"check", "schools"}, "vayu source record schools"},
		{[]string{"record", "cpcb"}, "code in Go"},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			if _, err := sourceCommand(t, nil, c.args...); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want one with %q", err, c.want)
			}
		})
	}
}
