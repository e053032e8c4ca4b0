package quality_test

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/columnstore/columnstoretest"
	"vayu/pipeline/airquality/quality"
	tables "vayu/schema/migrations/clickhouse"
)

// clusterFiles returns the migrations, with column parameter in table reading if
// they lack it.
func clusterFiles(t *testing.T) fs.FS {
	t.Helper()
	if _, err := fs.Stat(tables.Files, "0004_parameter.sql"); err == nil {
		return tables.Files
	}
	names, err := fs.Glob(tables.Files, "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{}
	for _, name := range names {
		text, err := fs.ReadFile(tables.Files, name)
		if err != nil {
			t.Fatal(err)
		}
		changed := strings.NewReplacer(
			"pollutant Enum8('pm25' = 1, 'pm10' = 2, 'no2' = 3, 'so2' = 4, 'co' = 5, 'o3' = 6, 'nh3' = 7, 'pb' = 8) COMMENT 'what was measured'",
			"removed UInt8, parameter LowCardinality(String)", "ORDER BY (station, pollutant,", "ORDER BY (station, parameter,",
			`"ingested_at"}}`, `"ingested_at, removed"}}`).Replace(string(text))
		files[name] = &fstest.MapFile{Data: []byte(changed)}
	}
	return files
}

// TestOnACluster runs every statement on distributed tables.
func TestOnACluster(t *testing.T) {
	t.Parallel()
	db := columnstoretest.Cluster(t, clusterFiles(t), tables.Values())
	w := &fixture{TB: t, db: db, name: "vayu"}
	tester, err := quality.New(db.Conn(), w.name, quality.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	w.tester = tester
	var r readings
	for i, station := range []string{"a", "b", "c", "d"} {
		w.around(station, "reference", float64(i))
		for hour, v := range []float64{50, 900, 52, 52, 52, 52} {
			if i > 0 {
				v = wave(hour+i, 60)
			}
			r.add(station, "pm25", start.Add(time.Duration(hour)*time.Hour), 60, v)
		}
	}
	w.store(&r)
	for range 2 {
		w.run(start, start.Add(6*time.Hour), "a", "b", "c", "d")
	}
	want := []string{
		"18:30 time_gap missing: no reading for more than 4 hours",
		"19:30 rate_of_change not_evaluated: no reading in the hour before",
		"20:30 neighbours suspect: hourly mean 900, of 3 neighbours",
		"20:30 rate_of_change suspect: 50 to 900", "20:30 spike suspect: 900 between 50 and 52",
		"21:30 flat_line suspect: repeated 52", "22:30 flat_line suspect: repeated 52", "23:30 flat_line suspect: repeated 52", "00:30 flat_line suspect: repeated 52",
	}
	got := w.results(t, "a")
	for i := range got {
		if cut := strings.Index(got[i], "of 3 neighbours"); cut > 0 {
			got[i] = got[i][:cut+len("of 3 neighbours")]
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
	if err := tester.Correct(t.Context(), []string{"a"}, start, start.Add(6*time.Hour)); err != nil {
		t.Error(err)
	}
	if err := tester.Colocate(t.Context(), start, start.Add(6*time.Hour)); err != nil {
		t.Error(err)
	}
}
