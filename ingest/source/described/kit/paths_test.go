package kit

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vayu/ingest"
	"vayu/ingest/source/described"
)

// devices describes a network with two levels: a list of devices, and a call for each.
const devices = `
about: devices of a test
licence: CC0
attribution: a test
local: true
partitions:
  request: {url: "URL/devices"}
  pages: {by: page, parameter: page, total: total}
  records: devices
  fields: {device: id, place: place, lat: lat, lon: lon}
  only: {place: [outdoor]}
request: {url: "URL/devices/{device}/values", query: {from: "{from}"}}
records: rows
station: {id: part.device, latitude: part.lat, longitude: part.lon}
time: {field: t, format: rfc3339}
quality: {flag: {reject: [2]}}
readings:
  pm25: {value: v, unit: µg/m³}
`

// deviceReplies are the replies of the network by their paths.
var deviceReplies = map[string]string{
	"/devices":          `{"total": 2, "devices": [{"id": "a", "place": "outdoor", "lat": 28.6, "lon": 77.2}, {"id": "b", "place": "indoor", "lat": 28.7, "lon": 77.2}]}`,
	"/devices/a/values": `{"rows": [{"t": "2026-06-09T10:00:00Z", "v": 7, "flag": 2}, {"t": "2026-06-09T11:00:00Z", "v": 8, "flag": 1}]}`,
}

// deviceFixture records a case of the network, and returns its description with some text replaced.
func deviceFixture(t *testing.T, old, with string) (f described.File, folder string, recorded *Recorded) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprint(w, deviceReplies[r.URL.Path])
	}))
	t.Cleanup(server.Close)
	text := strings.ReplaceAll(strings.Replace(devices, old, with, 1), "URL", server.URL)
	f = described.File{Path: filepath.Join(t.TempDir(), "devices.yaml"), Text: []byte(text)}
	folder = filepath.Join(t.TempDir(), "devices")
	recorded, err := Record(t.Context(), f, ingest.Window{From: noon.Add(-24 * time.Hour), To: noon}, filepath.Join(folder, "first"))
	if err != nil {
		t.Fatal(err)
	}
	return f, folder, recorded
}

func TestPathsInNoRecord(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ old, with, want string }{
		"quality":         {"{flag:", "{flg:", `quality.flg: no field "flg" in any of 2 records`},
		"optional value":  {"readings:", "readings:\n  no2: {value: no, unit: ppb}", `readings.no2.value: no field "no" in any of 2 records`},
		"unit":            {"unit: µg/m³", "unit-field: u", `readings.pm25.unit-field: no field "u" in any of 2 records`},
		"position":        {"latitude: part.lat", "latitude: part.latitude", `station.latitude: no field "part.latitude" in any of 2 records`},
		"name":            {"station: {", "station: {name: label, ", `station.name: no field "label" in any of 2 records`},
		"partition field": {"lat: lat", "lat: latitude", `partitions.fields.lat: no field "latitude" in any of 2 records`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, folder, recorded := deviceFixture(t, c.old, c.with)
			var shown bytes.Buffer
			recorded.Text(&shown)
			if want := "warning: " + c.want; !strings.Contains(shown.String(), want) {
				t.Errorf("recording printed\n%s\nwant %q", &shown, want)
			}
			r, err := Check(t.Context(), f, folder)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := failures(r), "paths: "; !strings.Contains(got, want) || !strings.Contains(got, c.want) {
				t.Errorf("failed:\n%s\nwant %q and %q", got, want, c.want)
			}
		})
	}
}

func TestPathsOfAllRecordsPass(t *testing.T) {
	t.Parallel()
	f, folder, recorded := deviceFixture(t, "", "")
	if len(recorded.Absent) > 0 {
		t.Errorf("recording warns of %v", recorded.Absent)
	}
	r, err := Check(t.Context(), f, folder)
	if err != nil {
		t.Fatal(err)
	}
	if got := failures(r); got != "" {
		t.Errorf("failed:\n%s", got)
	}
}

// The list of partitions has pages, and each partition has one call.
func TestPagesOfPartitionsOnly(t *testing.T) {
	t.Parallel()
	f, folder, _ := deviceFixture(t, "", "")
	r, err := Check(t.Context(), f, folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range r.Checks {
		if got, want := row.Reason, "the description has pages only for its partitions"; row.Check == "all pages" && got != want {
			t.Errorf("reason %q, want %q", got, want)
		}
	}
}
