package file

import (
	"context"
	"errors"
	"io/fs"

	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"vayu/ingest"
	"vayu/internal/testing/realdata"
	"vayu/schema/air"
)

// now is later than every real file.
func now() time.Time { return time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC) }

// fileSummary is the parse result of a file.
type fileSummary struct {
	Format    string
	Readings  int
	Stations  int
	Rejected  ingest.Rejections
	Averaging map[uint16]int
	Kinds     map[air.Kind]int
	Stuck     int
}

func reap(t *testing.T, path string) fileSummary {
	t.Helper()
	f, err := Open("file", path, 0, now, shippedFormats(t))
	if err != nil {
		t.Fatal(err)
	}
	got := fileSummary{Format: f.Format(), Averaging: make(map[uint16]int), Kinds: make(map[air.Kind]int)}
	stations := make(map[string]bool)
	err = f.Fetch(context.Background(), ingest.Window{}, func(b *ingest.Batch) error {
		defer b.Release()
		got.Readings += b.Rows()
		got.Rejected.Merge(b.Rejected)
		for _, s := range b.Stations {
			stations[s.ID] = true
		}
		for i := range b.Rows() {
			r := b.Reading(i)
			got.Averaging[r.Averaging]++
			got.Kinds[r.Kind]++
			if r.Flag == air.Stuck {
				got.Stuck++
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if f.Read() != f.Size() {
		t.Errorf("read %d of %d bytes", f.Read(), f.Size())
	}
	got.Stations = len(stations)
	return got
}

// listed returns the expected summary of a download of data.gov.in.
func listed(readings, stations, missing int) fileSummary {
	return fileSummary{
		"data.gov.in CSV", readings, stations, ingest.Rejections{ingest.MissingValue: missing},
		map[uint16]int{60: readings}, map[air.Kind]int{air.SubIndex: readings}, 0,
	}
}

// measured returns the expected summary of a file of concentrations.
func measured(format string, readings, stations int, averaging uint16, rejected ingest.Rejections) fileSummary {
	return fileSummary{
		format, readings, stations, rejected,
		map[uint16]int{averaging: readings}, map[air.Kind]int{air.Concentration: readings}, 0,
	}
}

// TestRealFiles compares the counts of every real file with those of an
// independent script over the same files.
func TestRealFiles(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]fileSummary{
		"datagov/Khushal-08.csv":      listed(3178, 506, 364),
		"datagov/Ls6375.csv":          listed(2958, 461, 178),
		"datagov/PRAVEENMK-GIT.csv":   listed(2841, 459, 240),
		"datagov/PriyanshiJain09.csv": listed(2942, 459, 233),
		"datagov/PurveshMali.csv":     listed(419, 419, 5),
		"datagov/debdattasarkar.csv":  listed(3047, 487, 243),
		"cpcb/rss_feed_2025-12-09_part.xml": {
			"CPCB feed XML", 1251, 194, ingest.Rejections{ingest.MissingValue: 31},
			map[uint16]int{60: 1251}, map[air.Kind]int{air.SubIndex: 1251}, 5,
		},
		"cpcb/city_day.csv": measured("city_day CSV", 214038, 21, 1440,
			ingest.Rejections{ingest.MissingValue: 64769, ingest.OutOfRange: 1}), // CO 175.81 mg/m³
		"caaqm/chennai-daily-2010-2020.csv": measured("CAAQM table", 83113, 8, 1440,
			ingest.Rejections{ingest.MissingValue: 102887}),
		// One of the 37 stations has no values.
		"caaqm/delhi_4h_pm_octnov_2016_2018.csv": measured("CAAQM table without ends", 24662, 36, 240,
			ingest.Rejections{ingest.MissingValue: 27165, ingest.NegativeValue: 1}),
		"caaqm/ccr_fetch_table_data_1.json": measured("CAAQM JSON", 50, 1, 240, nil),
		"caaqm/ccr_fetch_table_data_2.json": measured("CAAQM JSON", 50, 1, 240, nil),
		"caaqm/ccr_export_BWSSB.xlsx": measured("CAAQM Excel", 21033, 1, 60,
			ingest.Rejections{ingest.MissingValue: 19171}),
		"openaq/openaq_v1_sample_pollucheck.csv": measured("OpenAQ v1 CSV", 540, 1, 60, nil),
		"openaq/openaq_v2_latest_delhi_2022-03-25.csv": {
			"OpenAQ v2 CSV", 664, 52, nil, map[uint16]int{60: 664},
			map[air.Kind]int{air.SubIndex: 216, air.Concentration: 448}, 0,
		},
		"networks/openaq/archive_quoted_8118.csv":             measured("OpenAQ archive CSV", 2, 1, 60, nil),
		"networks/openaq/archive_unquoted.csv":                measured("OpenAQ archive CSV", 0, 0, 0, ingest.Rejections{ingest.OutsideIndia: 14}),
		"networks/sensorcommunity/archive_sds011_clip.csv":    measured("Sensor.Community archive CSV", 0, 0, 0, ingest.Rejections{ingest.OutsideIndia: 1166}),
		"networks/sensorcommunity/archive_sds011_one_row.csv": measured("Sensor.Community archive CSV", 0, 0, 0, ingest.Rejections{ingest.OutsideIndia: 2}),
		"networks/sensorcommunity/archive_bme280.csv":         measured("Sensor.Community archive CSV", 0, 0, 0, ingest.Rejections{ingest.OutsideIndia: 1746}),
		"networks/sensorcommunity/archive_dht22_one_row.csv":  measured("Sensor.Community archive CSV", 0, 0, 0, ingest.Rejections{ingest.OutsideIndia: 2}),
		// The sensors of these two are in location_2178.json, which is in
		// Albuquerque.
		"networks/openaq/location_2178_latest.json":    measured("OpenAQ v3 JSON", 0, 0, 0, ingest.Rejections{ingest.OutsideIndia: 8}),
		"networks/openaq/measurements_3917_page1.json": measured("OpenAQ v3 JSON", 0, 0, 0, ingest.Rejections{ingest.OutsideIndia: 1}),
		// None of these sensors is in a reply of /v3/locations beside it.
		"networks/openaq/parameter_2_latest_odd.json":   measured("OpenAQ v3 JSON", 0, 0, 0, ingest.Rejections{ingest.UnknownUnit: 5}),
		"networks/openaq/locations_vn_53.json":          measured("OpenAQ v3 JSON", 0, 0, 0, nil),
		"networks/cpcb/fetch_table_data_kanpur_4h.json": measured("CAAQM JSON", 50, 1, 240, nil),
	} {
		if want.Readings == 0 {
			want.Averaging, want.Kinds = nil, nil
		}
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			got := reap(t, realdata.Path(t, name))
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestOtherRealFiles checks that tables without readings are rejected by name.
func TestOtherRealFiles(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"mpcb_daily_subindex.csv", "stations.csv", "networks/openaq/india_sensors_excerpt.csv",
	} {
		_, err := Open("file", realdata.Path(t, name), 0, now, shippedFormats(t))
		if refused, ok := errors.AsType[*ingest.BatchError](err); !ok {
			t.Errorf("%s: got error %v, want one of the type %T", name, err, refused)
		} else if refused.Reason != ingest.BadReply {
			t.Errorf("%s: got %s, %q; want %s", name, refused.Reason, err, ingest.BadReply)
		}
	}
}

// TestRealBulletins checks that all bulletins of half a year are accepted, and gives none as a
// reading.
func TestRealBulletins(t *testing.T) {
	t.Parallel()
	f, err := Open("file", realdata.Path(t, "cpcb/bulletins_2024h1.csv"), 0, now, shippedFormats(t))
	if err != nil {
		t.Fatal(err)
	}
	bulletins, readings := 0, 0
	var rejected ingest.Rejections
	err = f.Fetch(t.Context(), ingest.Window{}, func(b *ingest.Batch) error {
		defer b.Release()
		bulletins, readings = bulletins+len(b.Bulletins), readings+b.Rows()
		rejected.Merge(b.Rejected)
		return nil
	})
	if err != nil || bulletins != 43286 || readings != 0 || len(rejected) > 0 {
		t.Errorf("%d bulletins, %d readings, rejected %v, error %v, want 43286, none and none", bulletins, readings, rejected, err)
	}
}

// TestOpenRefusesNonFiles checks that Open fails at once for a folder or a missing
// file.
func TestOpenRefusesNonFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := Open("file", dir, 0, now, nil); err == nil {
		t.Error("a folder was opened")
	}
	if _, err := Open("file", filepath.Join(dir, "missing"), 0, now, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v, want that it does not exist", err)
	}
}

// TestOneStationOneIdentity checks that a station has the same id in all sources:
// the live feed, data.gov.in, the portal's exports and OpenAQ.
func TestOneStationOneIdentity(t *testing.T) {
	t.Parallel()
	const id = "cpcb-anand-vihar-delhi-dpcc"
	found := make(map[string]bool)
	for _, name := range []string{
		"datagov/Khushal-08.csv", "caaqm/delhi_4h_pm_octnov_2016_2018.csv", "openaq/openaq_v2_latest_delhi_2022-03-25.csv",
	} {
		f, err := Open("file", realdata.Path(t, name), 0, now, shippedFormats(t))
		if err != nil {
			t.Fatal(err)
		}
		err = f.Fetch(t.Context(), ingest.Window{}, func(b *ingest.Batch) error {
			defer b.Release()
			for _, s := range b.Stations {
				if s.ID == id && s.City == "Delhi" && s.State == "Delhi" && s.Kind == air.Reference {
					found[f.Format()] = true
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(found) != 3 {
		t.Errorf("%s was found in %v only", id, found)
	}
}
