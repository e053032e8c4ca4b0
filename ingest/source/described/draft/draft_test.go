package draft

import (
	"encoding/json"
	"errors"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/ingest/source/described"
	"vayu/internal/config"
	"vayu/internal/testing/realdata"
)

var update = flag.Bool("update", false, "write the drafts of testdata")

// inputFixture reads a folder of testdata.
func inputFixture(t testing.TB, folder string) Input {
	t.Helper()
	var request struct {
		Address         string
		Headers, Header map[string]string
		Now             time.Time
	}
	text, err := os.ReadFile(filepath.Join(folder, "request.json"))
	if err == nil {
		err = json.Unmarshal(text, &request)
	}
	if err != nil {
		t.Fatal(err)
	}
	in := Input{Name: filepath.Base(folder), Address: request.Address, Headers: request.Headers, Header: make(http.Header), Now: request.Now}
	for name, value := range request.Header {
		in.Header.Set(name, value)
	}
	replies, err := filepath.Glob(filepath.Join(folder, "reply.*"))
	if err != nil || len(replies) != 1 {
		t.Fatalf("%s has the replies %v: %v", folder, replies, err)
	}
	if in.Body, err = os.ReadFile(replies[0]); err != nil {
		t.Fatal(err)
	}
	return in
}

// faultsOf returns the faults of a description that are not those of unfilled lines.
func faultsOf(text []byte) (unfilled int, other error) {
	_, err := described.Parse(described.File{Path: "drafted.yaml", Text: text, Env: func(string) (string, bool) { return "abcd", true }})
	all, ok := errors.AsType[config.Problems](err)
	if err != nil && !ok {
		return 0, err
	}
	var rest config.Problems
	for _, p := range all {
		if strings.HasPrefix(p.Err.Error(), fillIn) {
			unfilled++
		} else {
			rest = append(rest, p)
		}
	}
	if len(rest) > 0 {
		other = rest
	}
	return unfilled, other
}

func TestDrafts(t *testing.T) {
	t.Parallel()
	folders, err := filepath.Glob("testdata/*/request.json")
	if err != nil {
		t.Fatal(err)
	}
	if len(folders) == 0 {
		t.Fatal("no case")
	}
	for _, file := range folders {
		folder := filepath.Dir(file)
		t.Run(filepath.Base(folder), func(t *testing.T) {
			t.Parallel()
			d, err := New(inputFixture(t, folder))
			if err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join(folder, "draft.yaml")
			if *update {
				if err := os.WriteFile(golden, d.Text, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(d.Text)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if strings.Contains(string(d.Text), "literal") {
				t.Errorf("the draft has a key:\n%s", d.Text)
			}
			if unfilled, err := faultsOf(d.Text); err != nil || unfilled != strings.Count(string(d.Text), fillIn) {
				t.Errorf("%d unfilled lines and the error %v", unfilled, err)
			}
		})
	}
}

func TestRepliesWithoutReadings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string][2]string{
		"empty":     {" ", "empty"},
		"web page":  {"<!DOCTYPE html><p>", "not of its documentation"},
		"cut off":   {`{"rows": [{"pm25": 1`, "cut off"},
		"not UTF-8": {"{\"name\": \"\xe4\"}", "not UTF-8"},
		"no values": {`{"rows": [{"id": 1, "name": "a"}]}`, "no records with measured values"},
		"indices":   {`{"data": {"iaqi": {"pm25": {"v": 12}, "no2": {"v": 3}}}}`, "indices do not count"},
		"series":    {`{"hourly": {"time": [1, 2, 3, 4, 5], "pm2_5": [1, 2, 3, 4, 5]}}`, "a source in Go"},
		"countries": {`{"rows": [{"country": "NO", "v": 1}, {"country": "CO", "v": 2}]}`, "no records with measured values"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := New(Input{Name: "x", Body: []byte(c[0])}); err == nil || !strings.Contains(err.Error(), c[1]) {
				t.Errorf("error %v, want one with %q", err, c[1])
			}
		})
	}
}

// TestRecordedReplies drafts from replies of real networks.
func TestRecordedReplies(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]map[string]string{
		"openaq/measurements_co_ugm3_100rows.json": {
			"records": "results", "time.field": "period.datetimeTo.utc", "averaging": "1h", "value.field": "value", "value.parameter-field": "parameter.name", "value.unit-field": "parameter.units",
		},
		"sensorcommunity/static_2019.json": {
			"each": "sensordatavalues", "station.id": "location.id", "station.latitude": "location.latitude", "time.format": "2006-01-02 15:04:05", "value.parameters.P1": "pm10 µg/m³", "value.parameters.P2": "pm25 µg/m³",
		},
		"purpleair/sensors_wide.json": {
			"records": "data", "shape": "table", "columns": "fields", "station.id": "sensor_index", "readings.pm25.value": "pm2.5", "readings.temperature.unit": "°F", "readings.pressure.unit": "hPa",
		},
		"airgradient/cloud_locations_current.json":   {"station.id": "locationId", "time.format": "rfc3339", "readings.pm25.value": "pm02", "readings.co2.unit": "ppm"},
		"airgradient/device_current_measures_2.json": {"shape": "object", "station.id": "serialno", "time.received": "true", "readings.humidity.value": "rhum"},
		"airnow/aq_data_bbox.json": {
			"records": "@this", "station.id": "FullAQSCode", "time.field": "UTC", "time.zone": "UTC", "averaging": "1h", "value.unit-field": "Unit", "station.longitude": "Longitude",
		},
		"cpcb/fetch_table_data_kanpur_4h.json": {
			"records": "data.tabularData.bodyContent", "station.id": "reply.data.siteInfo.siteId", "time.field": "to date", "time.interval": "end", "averaging": "4h", "readings.pm25.unit": "µg/m³",
		},
	} {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(realdata.Path(t, "networks/"+file))
			if err != nil {
				t.Fatal(err)
			}
			d, err := New(Input{Name: "drafted", Address: "https://api.example.com/rows", Body: text, Now: time.Date(2026, 11, 26, 0, 0, 0, 0, time.UTC)})
			if err != nil {
				t.Fatal(err)
			}
			got := make(map[string]string)
			for _, g := range d.Guesses {
				if _, wanted := want[g.Key]; wanted {
					got[g.Key] = g.Value
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s\n%s", diff, d.Text)
			}
			if _, err := faultsOf(d.Text); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestDoubtfulParticles checks the names p1 and p2: the higher values are PM10, and both lines are guesses.
func TestDoubtfulParticles(t *testing.T) {
	t.Parallel()
	const at = `"site": 7, "at": "2026-06-09T12:00:00Z"`
	for name, c := range map[string]struct {
		reply string
		want  map[string]string // value and certainty of keys
	}{
		"p2 is higher": {`[{` + at + `, "p1": 31, "p2": 61}, {` + at + `, "p1": 42.5, "p2": 84}]`, map[string]string{
			"readings.pm25.value": "p1 guess", "readings.pm10.value": "p2 guess",
		}},
		"p1 is higher": {`[{` + at + `, "p1": 61, "p2": 31}]`, map[string]string{
			"readings.pm25.value": "p2 guess", "readings.pm10.value": "p1 guess",
		}},
		"alone": {`[{` + at + `, "p1": 61, "no2_ppb": 31}]`, map[string]string{"readings.pm10.value": "p1 guess"}},
		"a plain name counts": {`[{` + at + `, "p1": 31, "p2": 61, "pm10": 84}]`, map[string]string{
			"readings.pm25.value": "p2 guess", "readings.pm10.value": "pm10 found",
		}},
		"in a list": {`[{` + at + `, "what": "p1", "value": 31, "unit": "µg/m³"}, {` + at + `, "what": "p2", "value": 61, "unit": "µg/m³"}]`, map[string]string{
			"value.parameters.p1": "pm25 guess", "value.parameters.p2": "pm10 guess",
		}},
		"Sensor.Community": {`[{` + at + `, "sensordatavalues": [{"value": "9", "value_type": "P1"}, {"value": "12", "value_type": "P2"}]}]`, map[string]string{
			"value.parameters.P1": "pm10 µg/m³ guess", "value.parameters.P2": "pm25 µg/m³ guess",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := New(Input{Name: "drafted", Address: "https://api.example.com/rows", Body: []byte(c.reply), Now: time.Date(2026, 6, 9, 13, 0, 0, 0, time.UTC)})
			if err != nil {
				t.Fatal(err)
			}
			got := make(map[string]string)
			for _, g := range d.Guesses {
				if _, wanted := c.want[g.Key]; wanted {
					got[g.Key] = g.Value + " " + string(g.Certainty)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s\n%s", diff, d.Text)
			}
		})
	}
}

// FuzzDraft checks that a draft of any reply is a valid description, except for unfilled lines.
func FuzzDraft(f *testing.F) {
	folders, err := filepath.Glob("testdata/*/reply.*")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range folders {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text), "https://api.example.com/rows?from=2026-06-09&page=1&key=k")
	}
	f.Add(`[{"no #2: x": 1, "at": "2026-06-09T12:00:00Z", "station": "a # b"}]`, "https://api.example.com/${X}?a=%7Bb%7D")
	f.Fuzz(func(t *testing.T, reply, address string) {
		d, err := New(Input{Name: "drafted", Address: address, Body: []byte(reply), Now: time.Date(2026, 6, 9, 12, 0, 0, 0, time.UTC)})
		if err != nil {
			return
		}
		if _, err := faultsOf(d.Text); err != nil && strings.HasPrefix(address, "https://api.example.com/rows") {
			t.Errorf("%v\n%s\n%s", err, reply, d.Text)
		}
	})
}
