package archive_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/query/archive"
)

// TestFewerRowsNeedAReason removes rows between two runs. A file with more rows stays, unless the removal was on purpose.
func TestFewerRowsNeedAReason(t *testing.T) {
	t.Parallel()
	const lost = "ALTER TABLE air.%s DELETE WHERE %s SETTINGS mutations_sync = 2"
	for name, c := range map[string]struct {
		table    string
		change   []string
		warnings []string // month and rows that are left
		removed  int
	}{
		"retention that was removed": {"reading", []string{
			"ALTER TABLE air.reading MODIFY TTL at + toIntervalDay(10000)", "ALTER TABLE air.reading REMOVE TTL",
			fmt.Sprintf(lost, "reading", "at < '2026-10-15 00:00:00'"),
		}, []string{"2026-10", "2026-09"}, 0},
		"readings that are withdrawn": {"reading", []string{
			"INSERT INTO air.reading (station, parameter, at, value, kind, averaging, flag, source, removed, ingested_at) SELECT station, parameter, at, 0, kind, averaging, flag, source, 1, now64(3) + 1 FROM air.reading FINAL WHERE at < '2026-10-15 00:00:00'",
		}, nil, 1},
		"station that is no longer public": {"reading", []string{fmt.Sprintf(lost, "station", "id = 's1'")}, nil, 1}, // its corrected values
		"stations that are lost":           {"reading", []string{"TRUNCATE TABLE air.station"}, []string{"2026-09", "2026-10", "2026-11", "2026-12"}, 0},
		"figures that are lost":            {"city_hour", []string{fmt.Sprintf(lost, "city_hour", "1")}, []string{"2026-10"}, 0},
		"figures that are computed again": {"city_hour", []string{
			fmt.Sprintf(lost, "city_hour", "1"),
			"INSERT INTO air.rollup (started, hours_from, hours_to, stations) VALUES (now64(3), '2026-09-30 23:00:00', '2026-10-01 02:00:00', 2)",
		}, nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := full(t)
			dir := t.TempDir()
			before := months(w.mustArchive(archive.NewFolder(dir)).Manifest, c.table)
			for _, query := range c.change {
				w.exec(query)
			}
			w.options.Now = time.Now().Add(time.Minute)
			warned := map[string]bool{}
			w.options.Fewer = func(f archive.File, rows uint64) {
				if strings.HasPrefix(f.Path, c.table+"/") && rows < f.Rows {
					warned[f.Path] = true
				}
			}
			r := w.mustArchive(archive.NewFolder(dir))
			after, stays := months(r.Manifest, c.table), map[string]bool{}
			for _, month := range c.warnings {
				stays[fmt.Sprintf("%[1]s/year=%[2]s/month=%[3]s/%[1]s-%[2]s-%[3]s.parquet", c.table, month[:4], month[5:])] = true
				if after[month] != before[month] {
					t.Errorf("%d rows of %s, want the %d of before", after[month], month, before[month])
				}
			}
			if len(c.warnings) == 0 && cmp.Equal(before, after) {
				t.Errorf("rows %v, want fewer", after)
			}
			if diff := cmp.Diff(stays, warned); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
			if r.Removed != c.removed {
				t.Errorf("%d files removed, want %d", r.Removed, c.removed)
			}
			if report := w.verify(archive.NewFolder(dir)); len(report.Faults) > 0 {
				t.Errorf("faults %v, want none", report.Faults)
			}
			w.options.Prune = true
			if pruned := months(w.mustArchive(archive.NewFolder(dir)).Manifest, c.table); c.table == "reading" && cmp.Equal(before, pruned) {
				t.Errorf("rows %v after pruning, want fewer", pruned)
			}
		})
	}
}
