package described

import (
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"vayu/ingest"
	"vayu/internal/testing/realdata"
)

// filters are the lines of descriptions that restrict them to India. Recorded replies
// are of other countries.
var filters = regexp.MustCompile(`(?m)^area: .*$`)

// TestRecordedReplies reads replies of the networks with the shipped descriptions.
func TestRecordedReplies(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		description string
		files       []string
		now         time.Time
		readings    int
		rejected    ingest.Rejections
		fault       string
	}{
		{"openaq", []string{"openaq/location_8118_new_delhi.json", "openaq/hours_1hour.json"}, date(2024, 12, 13), 2, nil, ""},
		{"openaq", []string{"openaq/location_8118_new_delhi.json", "openaq/measurements_co_ugm3_100rows.json"}, date(2024, 12, 13), 100, nil, ""},
		{"sensor-community", []string{"sensorcommunity/sensor_sds011.json"}, date(2018, 2, 7), 4, ingest.Rejections{ingest.BadPosition: 1}, ""},
		{"sensor-community", []string{"sensorcommunity/sensor_bme280.json"}, date(2024, 1, 1), 3, ingest.Rejections{ingest.BadPosition: 1}, ""},
		{"sensor-community", []string{"sensorcommunity/static_2019.json"}, date(2024, 1, 1), 10, ingest.Rejections{ingest.BadPosition: 2}, ""},
		{"purpleair", []string{"purpleair/sensors_wide.json"}, date(2026, 11, 1), 0, nil, `"last_seen"`}, // the reply has other fields
		{"purpleair", []string{"purpleair/error_server.html"}, date(2026, 11, 1), 0, nil, "HTML"},
		{"airgradient", []string{"airgradient/cloud_locations_current.json"}, date(2024, 2, 2), 12, nil, ""},
		{"airgradient-local", []string{"airgradient/device_current_measures_2.json"}, date(2024, 2, 2), 6, nil, ""},
		{"airgradient-local", []string{"airgradient/device_outdoor_o1pst.json"}, date(2024, 2, 2), 6, nil, ""},
		{"airgradient-local", []string{"airgradient/device_current_measures_zero.json"}, date(2024, 2, 2), 6, nil, ""},
		{"airgradient-local", []string{"airgradient/device_measures_after_boot.json"}, date(2024, 2, 2), 0, nil, `"pm02Compensated"`},
		{"airgradient-local", []string{"airgradient/device_v1_go.json"}, date(2024, 2, 2), 0, nil, `"serialno"`}, // another dialect
		{"airnow", []string{"airnow/aq_data_bbox.json"}, date(2026, 6, 10), 5, ingest.Rejections{ingest.BadPosition: 2, ingest.MissingValue: 2}, ""},
		{"airnow", []string{"airnow/constructed_no_data_200.json"}, date(2026, 6, 10), 0, nil, "No monitors within 50 miles"},
	} {
		t.Run(c.files[len(c.files)-1], func(t *testing.T) {
			t.Parallel()
			next := 0
			server := network(t, func(w http.ResponseWriter, _ *http.Request) {
				text, err := os.ReadFile(realdata.Path(t, "networks/"+c.files[min(next, len(c.files)-1)]))
				if err != nil {
					t.Error(err)
				}
				next++
				_, _ = w.Write(text)
			})
			realdata.Path(t, "networks/"+c.files[0])
			f := at(shippedAs(t, c.description), server)
			f.Text = filters.ReplaceAll(f.Text, nil)
			s := open(t, f, func() time.Time { return c.now })
			readings := 0
			var rejected ingest.Rejections
			err := s.Fetch(t.Context(), ingest.Window{}, func(b *ingest.Batch) error {
				readings += b.Rows()
				rejected.Merge(b.Rejected)
				return drop(b)
			})
			fault := ""
			if err != nil {
				fault = err.Error()
			}
			if readings != c.readings || (c.fault == "") != (err == nil) || !strings.Contains(fault, c.fault) {
				t.Errorf("%d readings, error %v, want %d and %q", readings, err, c.readings, c.fault)
			}
			if diff := cmp.Diff(c.rejected, rejected, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("rejected (-want +got):\n%s", diff)
			}
		})
	}
}

func date(year int, month time.Month, day int) time.Time {
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// shippedAs returns a shipped description by its name.
func shippedAs(t testing.TB, name string) File {
	t.Helper()
	for _, f := range Shipped() {
		if NameOf(f.Path) == name {
			return f
		}
	}
	t.Fatalf("no description %q is shipped", name)
	return File{}
}
