package archive_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/query/archive"
)

func (w *fixture) verify(place archive.Place) archive.Report {
	w.t.Helper()
	r, err := archive.Verify(w.t.Context(), place, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// months returns the months of a table in an archive, with their rows.
func months(m archive.Manifest, table string) map[string]uint64 {
	all := map[string]uint64{}
	for _, t := range m.Tables {
		for _, f := range t.Files {
			if t.Name == table {
				all[f.Month] = f.Rows
			}
		}
	}
	return all
}

// TestExpiredMonthsStay deletes months from ClickHouse, and a part of a month that its retention has reached.
func TestExpiredMonthsStay(t *testing.T) {
	t.Parallel()
	for name, place := range places(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := full(t)
			first := w.mustArchive(place)
			// The test decides about the time of the run, and ClickHouse about that of its deletions.
			w.exec("ALTER TABLE air.reading MODIFY TTL at + toIntervalDay(10000)")
			w.options.Now = time.Date(2026, 10, 15, 0, 0, 0, 0, time.UTC).AddDate(0, 0, 10000)
			w.exec("ALTER TABLE air.reading DELETE WHERE at < '2026-10-15 00:00:00' SETTINGS mutations_sync = 2")
			w.exec("ALTER TABLE air.station_hour DELETE WHERE 1 SETTINGS mutations_sync = 2")
			after := w.mustArchive(place)
			if diff := cmp.Diff(months(first.Manifest, "reading"), months(after.Manifest, "reading")); diff != "" {
				t.Errorf("readings (-before +after they have expired):\n%s", diff)
			}
			if after.Retained != 3 || after.Written != 0 || after.Removed != 0 {
				t.Errorf("%d files retained, %d written, %d removed, want 3, 0, 0", after.Retained, after.Written, after.Removed)
			}
			if report := w.verify(place); len(report.Faults) > 0 {
				t.Errorf("faults %v, want none", report.Faults)
			}
			w.options.Prune = true
			pruned := w.mustArchive(place)
			want := months(first.Manifest, "reading")
			delete(want, "2026-09")
			if got := months(pruned.Manifest, "reading"); len(got) != len(want) || got["2026-10"] >= want["2026-10"] {
				t.Errorf("readings %v after pruning, want those of ClickHouse only", got)
			}
			if got := months(pruned.Manifest, "station_hour"); len(got) != 1 || pruned.Removed != 1 {
				t.Errorf("%d files of station_hour and %d removed, want that the last one stays", len(got), pruned.Removed)
			}
		})
	}
}

// TestTakenBackDecisionsLeaveTheArchive removes the only withdrawal by a newer row.
func TestTakenBackDecisionsLeaveTheArchive(t *testing.T) {
	t.Parallel()
	w := full(t)
	dir := t.TempDir()
	w.mustArchive(archive.NewFolder(dir))
	w.exec("INSERT INTO air.withdrawal (id, station, parameter, from_at, to_at, reason, actor, removed, made_at) VALUES ('wdr_1', 's0', '', 0, 1, 'it', 'me', 1, now64(3) + 1)")
	if r := w.mustArchive(archive.NewFolder(dir)); months(r.Manifest, "withdrawal")[""] != 0 || r.Written != 1 {
		t.Errorf("%d withdrawals in %d written files, want none in one", months(r.Manifest, "withdrawal")[""], r.Written)
	}
	if report := w.verify(archive.NewFolder(dir)); len(report.Faults) > 0 {
		t.Errorf("faults %v, want none", report.Faults)
	}
}

// TestOrphansAreRemoved has files that a run left when it was killed between its manifest and its deletions.
func TestOrphansAreRemoved(t *testing.T) {
	t.Parallel()
	w := full(t)
	dir := t.TempDir()
	w.mustArchive(archive.NewFolder(dir))
	before := files(t, dir)
	for _, path := range []string{"reading/year=2019/month=01/reading-2019-01.parquet", "station/own.parquet", "notes/reading.parquet"} {
		name := filepath.Join(dir, filepath.FromSlash(path))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if got := w.verify(archive.NewFolder(dir)).Unlisted; len(got) != 1 {
		t.Errorf("unlisted files %v, want one", got)
	}
	w.mustArchive(archive.NewFolder(dir))
	var more []string
	for path := range files(t, dir) {
		if _, ok := before[path]; !ok {
			more = append(more, filepath.ToSlash(path))
		}
	}
	slices.Sort(more)
	if diff := cmp.Diff([]string{"notes/reading.parquet", "station/own.parquet"}, more); diff != "" {
		t.Errorf("files that no run has written (-want +got):\n%s", diff)
	}
}

// TestLostFilesAreWrittenAgain removes a file and cuts another one. A file whose rows have expired cannot come back.
func TestLostFilesAreWrittenAgain(t *testing.T) {
	t.Parallel()
	w := full(t)
	dir := t.TempDir()
	w.mustArchive(archive.NewFolder(dir))
	october := filepath.Join(dir, "reading", "year=2026", "month=10", "reading-2026-10.parquet")
	september := filepath.Join(dir, "reading", "year=2026", "month=09", "reading-2026-09.parquet")
	if err := errors.Join(os.Remove(october), os.Truncate(september, 10)); err != nil {
		t.Fatal(err)
	}
	if faults := w.verify(archive.NewFolder(dir)).Faults; len(faults) != 2 {
		t.Errorf("faults %v, want two", faults)
	}
	if r := w.mustArchive(archive.NewFolder(dir)); r.Written != 2 {
		t.Errorf("%d files written, want the two that were lost", r.Written)
	}
	if faults := w.verify(archive.NewFolder(dir)).Faults; len(faults) != 0 {
		t.Errorf("faults %v, want none", faults)
	}
	w.exec("ALTER TABLE air.reading DELETE WHERE at < '2026-10-01 00:00:00' SETTINGS mutations_sync = 2")
	if err := os.Remove(september); err != nil {
		t.Fatal(err)
	}
	if _, err := w.archive(archive.NewFolder(dir)); err == nil || !strings.Contains(err.Error(), "reading-2026-09.parquet") {
		t.Errorf("error %v, want that it names the lost file", err)
	}
}

func TestVerifyFindsDamage(t *testing.T) {
	t.Parallel()
	w := full(t)
	dir := t.TempDir()
	w.mustArchive(archive.NewFolder(dir))
	path := filepath.Join(dir, "station", "station.parquet")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)/2] ^= 1
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	report := w.verify(archive.NewFolder(dir))
	if len(report.Faults) != 1 || !strings.Contains(report.Faults[0].Error(), "station/station.parquet: the file is damaged") {
		t.Errorf("faults %v, want the damaged file", report.Faults)
	}
}

// TestLicencesBelongToMonths adds a station with another licence, whose only reading is of November.
func TestLicencesBelongToMonths(t *testing.T) {
	t.Parallel()
	w := full(t)
	dir := t.TempDir()
	w.mustArchive(archive.NewFolder(dir))
	w.exec(`INSERT INTO air.station (id, source, name, city, state, latitude, longitude, kind, attribution, licence, first_seen, last_seen)
		VALUES ('s9', 'made', 'Nine', '', '', 0, 0, 'sensor', 'Nine', 'CC-BY-4.0', 0, 1000)`)
	w.exec("INSERT INTO air.reading (station, parameter, at, value, kind, averaging, flag, source) VALUES ('s9', 'pm25', '2026-11-01 00:00:00', 1, 'concentration', 60, 'plain', 'made')")
	r := w.mustArchive(archive.NewFolder(dir))
	if r.Written != 2 {
		t.Errorf("%d files written, want the stations and the readings of November", r.Written)
	}
	i := slices.IndexFunc(r.Manifest.Tables, func(t archive.Table) bool { return t.Name == "reading" })
	if n := len(r.Manifest.Tables[i].Licences); n != 3 {
		t.Errorf("%d licences of readings, want 3", n)
	}
}

// TestFailedRunFreesTheFolder damages the manifest. Without the lock of the failed run the next one can write.
func TestFailedRunFreesTheFolder(t *testing.T) {
	t.Parallel()
	w := full(t)
	dir := t.TempDir()
	w.mustArchive(archive.NewFolder(dir))
	path := filepath.Join(dir, archive.ManifestName)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := w.archive(archive.NewFolder(dir)); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("error %v, want that the manifest is damaged", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := w.archive(archive.NewFolder(dir)); err == nil || !strings.Contains(err.Error(), "put it back") {
		t.Errorf("error %v, want that the manifest is missing", err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := w.mustArchive(archive.NewFolder(dir)); r.Written != 0 {
		t.Errorf("%d files written, want none", r.Written)
	}
}

// TestReadersWaitForRuns restores from a folder while a run has the lock, and a manifest that is not shown yet.
func TestReadersWaitForRuns(t *testing.T) {
	t.Parallel()
	w := full(t)
	dir := t.TempDir()
	w.mustArchive(archive.NewFolder(dir))
	running := archive.NewFolder(dir)
	if err := running.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	staged := filepath.Join(dir, ".vayu-archive")
	if err := errors.Join(os.MkdirAll(staged, 0o700), os.WriteFile(filepath.Join(staged, archive.ManifestName), []byte("{}"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := archive.Verify(t.Context(), archive.NewFolder(dir), nil); !errors.Is(err, archive.ErrBusy) {
		t.Errorf("error %v, want %v", err, archive.ErrBusy)
	}
	if err := errors.Join(os.RemoveAll(staged), running.End(t.Context())); err != nil {
		t.Fatal(err)
	}
	w.verify(archive.NewFolder(dir))
}
