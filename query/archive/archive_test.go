package archive_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/go-cmp/cmp"

	"vayu/internal/columnstore"
	"vayu/internal/columnstore/columnstoretest"
	"vayu/internal/columnstore/migration"
	"vayu/query/archive"
	"vayu/query/dataset"
	"vayu/schema"
)

func TestMain(m *testing.M) { columnstoretest.Main(m) }

// now is that of ClickHouse, whose clock decides about the versions of rows.
var now = time.Now()

// fixture is a database with rows in every table of an archive.
type fixture struct {
	t        *testing.T
	conn     driver.Conn
	database string
	options  archive.Options
}

func empty(t *testing.T) *fixture {
	t.Helper()
	db := columnstoretest.New(t)
	w := &fixture{t: t, conn: db.Conn(), database: columnstoretest.Migrated(t, db)}
	w.options = archive.Options{World: schema.Live, Database: w.database, Version: "test", Now: now}
	return w
}

func (w *fixture) exec(query string) {
	w.t.Helper()
	if err := w.conn.Exec(w.t.Context(), strings.ReplaceAll(query, "air.", w.database+".")); err != nil {
		w.t.Fatal(err)
	}
}

func full(t *testing.T) *fixture {
	t.Helper()
	w := empty(t)
	for _, query := range []string{
		`INSERT INTO air.station (id, source, name, city, state, latitude, longitude, kind, attribution, licence, first_seen, last_seen) VALUES
			('s0', 'made', 'One', 'Delhi', 'Delhi', 28.6, 77.2, 'reference', 'CPCB', 'open', 0, 1000), ('s1', 'made', 'Two', '', '', 0, 0, 'sensor', '', '', 0, 1000)`,
		`INSERT INTO air.pushed_station (account, station, id, name, city, state, latitude, longitude, kind, licence, attribution, published) VALUES ('acc_1', 'roof', 'private', 'Roof', '', '', 1, 1, 'sensor', '', '', 0)`,
		`INSERT INTO air.reading (station, parameter, at, value, kind, averaging, flag, source, run)
			SELECT ['s0', 's1'][1 + number % 2], ['pm25', 'o3'][1 + intDiv(number, 2) % 2], toDateTime('2026-09-30 22:00:00', 'UTC') + 3600 * intDiv(number, 4), cityHash64(number) / 3e15, 'concentration', 60, 'plain', 'made', number
			FROM numbers(6000) SETTINGS max_partitions_per_insert_block = 0`,
		"INSERT INTO air.reading (station, parameter, at, value, kind, averaging, flag, source) VALUES ('private', 'pm25', '2026-10-01 00:00:00', 1, 'concentration', 60, 'plain', 'push')",
		"INSERT INTO air.reading SELECT * REPLACE (1.5 AS value, now64(3) AS ingested_at) FROM air.reading WHERE rand() % 5 = 0",
		"INSERT INTO air.reading (station, parameter, at, value, kind, averaging, flag, source, removed) SELECT station, parameter, at, 0, kind, averaging, flag, source, 1 FROM air.reading FINAL WHERE rand() % 9 = 0",
		"INSERT INTO air.reading_quality (station, parameter, at, kind, averaging, test, version, flag, detail) VALUES ('s0', 'pm25', '2026-10-01 00:00:00', 'concentration', 60, 'spike', 1, 'suspect', 'why')",
		"INSERT INTO air.nox_form (station, day, documented, zero_celsius, one_unit, neither) VALUES ('s0', '2026-10-01', 1, 2, 3, 4)",
		"INSERT INTO air.corrected (station, at, averaging, raw, corrected, humidity, channels, formula, version) VALUES ('s1', '2026-10-01 00:00:00', 60, 1, 2, 3, 'agree', 'epa', 1)",
		"INSERT INTO air.colocation (sensor, reference, hours_from, hours_to, distance_m, hours, slope, humidity, intercept, error, error_raw, r2) VALUES ('s1', 's0', 0, 3600, nan, 1, 1, 1, 1, 1, 1, 1)",
		"INSERT INTO air.withdrawal (id, station, parameter, from_at, to_at, reason, actor) VALUES ('wdr_1', 's0', '', 0, 1, 'it', 'me')",
		"INSERT INTO air.station_alias (alias, station, reason, actor) VALUES ('s0b', 's0', 'renamed', 'ingest')",
		"INSERT INTO air.station_change (station, field, before, after, source, reason) VALUES ('s0', 'city', '', 'Delhi', 'made', 'name')",
		"INSERT INTO air.station_parameter_hour (station, parameter, kind, at, mean, minimum, count, expected) VALUES ('s0', 'pm25', 'concentration', '2026-10-01 00:30:00', 2.5, NULL, 3, 4)",
		"INSERT INTO air.station_parameter_day (station, parameter, day, mean, count, expected, hours, present) VALUES ('s0', 'pm25', '2026-10-01', NULL, 3, 24, [1.5, 2, 3], 7), ('s0', 'o3', '2026-10-01', 1, 1, 1, [], 0)",
		"INSERT INTO air.station_hour (station, at, pm25, pm25_index, aqi, dominant, updated) VALUES ('s0', '2026-10-01 00:30:00', 40.25, 67, NULL, 'pm25', '2026-10-01 00:30:00')",
		"INSERT INTO air.city_hour (city, state, at, pm25, aqi, dominant, stations_used, stations_total, updated) VALUES ('Delhi', 'Delhi', '2026-10-01 00:30:00', 40.25, 67, 'pm25', 1, 2, '2026-10-01 00:30:00')",
		"INSERT INTO air.city_day (city, state, day, at, pm25, aqi, dominant, stations_used, stations_total, updated) VALUES ('Delhi', 'Delhi', '2026-10-01', '2026-10-01 18:30:00', 40.25, 67, 'pm25', 1, 2, '2026-10-01 18:30:00')",
		"INSERT INTO air.bulletin (day, name, city, state, until, aqi, category, prominent, source) VALUES ('2026-10-01', 'Delhi', 'Delhi', 'Delhi', '2026-10-01 10:30:00', 301, 'Very Poor', ['pm25', 'o3'], 'cpcb')",
		"INSERT INTO air.forecast (run, place_kind, place, state, parameter, day, horizon, model, served, p10, p50, p90, reason, issued_at) SELECT run, kind, ['Delhi', 's0'][1 + (kind = 'station')], if(kind = 'city', 'Delhi', ''), 'aqi', '2026-10-02', 2, 'persistence', 1, 90.5, 100, 110, '', '2026-10-01 20:30:00' FROM (SELECT arrayJoin(['', 'replay']) AS run, arrayJoin(['city', 'station']) AS kind)",
		"INSERT INTO air.forecast_issue (run, base, issued_at, fitted_at, forecasts) VALUES ('', '2026-09-30', '2026-10-01 20:30:00', 0, 2)",
		"INSERT INTO air.forecast_hour (run, place_kind, place, state, parameter, base, horizon, at, model, served, compared, p10, p50, p90, widening, reason, fitted_at, issued_at) SELECT run, kind, ['Delhi', 's0'][1 + (kind = 'station')], if(kind = 'city', 'Delhi', ''), 'pm25', '2026-10-31 18:30:00', horizon, toDateTime('2026-10-31 18:30:00', 'UTC') + 3600 * horizon, 'persistence', 1, 0, 40.5, 50, 60, 0, '', '2026-10-31 19:30:00', '2026-10-31 19:30:00.250' FROM (SELECT arrayJoin(['', 'replay']) AS run, arrayJoin(['city', 'station']) AS kind, arrayJoin([1, 60]) AS horizon)",
		"INSERT INTO air.forecast_hour SELECT * REPLACE (1 AS p50, issued_at + 60 AS issued_at, precedence - 60000 AS precedence) FROM air.forecast_hour", // a second issue, which counts for nothing
		"INSERT INTO air.forecast_hour_issue (run, base, issued_at, fitted_at, forecasts) VALUES ('', '2026-10-31 18:30:00', '2026-10-31 19:30:00.250', '2026-10-31 19:30:00', 4)",
		"INSERT INTO air.rollup (started, hours_from, hours_to, stations) VALUES (now64(3), 0, 3600, 2)",
		"INSERT INTO air.parameter (id, name, unit, substance_group, in_index, molar_mass, least, most) VALUES ('pm25', 'PM2.5', 'µg/m³', 'particle', true, 0, 0, 1000)",
	} {
		w.exec(query)
	}
	return w
}

func (w *fixture) archive(place archive.Place) (archive.Result, error) {
	return archive.Write(w.t.Context(), w.conn, place, w.options)
}

// restore restores the live world.
func (w *fixture) restore(place archive.Place) error {
	_, err := archive.Restore(w.t.Context(), w.conn, place, archive.RestoreOptions{World: schema.Live, Tables: migration.Params{Database: w.database}, Now: now})
	return err
}

func (w *fixture) mustArchive(place archive.Place) archive.Result {
	w.t.Helper()
	r, err := w.archive(place)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// contents returns the number of rows of each table and a hash of them, without those of private stations.
func (w *fixture) contents() map[string]string {
	w.t.Helper()
	all := map[string]string{}
	for _, t := range dataset.Archived() {
		columns, err := dataset.Columns(w.t.Context(), w.conn, w.database, t)
		if err != nil {
			w.t.Fatal(err)
		}
		var names []string
		for _, c := range columns {
			names = append(names, c.Name)
		}
		where := ""
		if t.Name == "reading" {
			where = " WHERE station != 'private'"
		}
		if t.Only != "" {
			where = " WHERE " + t.Only
		}
		var n, hash uint64
		query := fmt.Sprintf("SELECT count(), sum(cityHash64(tuple(%s))) FROM %s.%s%s", strings.Join(names, ", "), w.database, t.Name, where)
		if err := w.conn.QueryRow(columnstore.Final(w.t.Context()), query).Scan(&n, &hash); err != nil {
			w.t.Fatal(err)
		}
		all[t.Name] = fmt.Sprintf("%d rows %x", n, hash)
	}
	return all
}

// files returns the paths and modification times of the files below a folder.
func files(t *testing.T, dir string) map[string]time.Time {
	t.Helper()
	all := map[string]time.Time{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, ".lock") {
			return err
		}
		info, err := d.Info()
		if err == nil {
			name, _ := filepath.Rel(dir, path)
			all[name] = info.ModTime()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// places returns an empty folder, and an empty bucket if there is a storage.
func places(t *testing.T) map[string]archive.Place {
	t.Helper()
	all := map[string]archive.Place{"folder": archive.NewFolder(filepath.Join(t.TempDir(), "new", "archive"))}
	text := os.Getenv("VAYU_TEST_S3")
	if text == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("VAYU_TEST_S3 is not set: CI needs an object storage")
		}
		return all
	}
	all["bucket"] = newStorage(t, text).create()
	return all
}

func TestRestoredArchiveEqualsTheOriginal(t *testing.T) {
	t.Parallel()
	w := full(t)
	want := w.contents()
	for name, place := range places(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := w.in(t)
			r := w.mustArchive(place)
			if r.Kept != 0 || r.Written < 18 {
				t.Errorf("%d files written and %d kept, want all written", r.Written, r.Kept)
			}
			to := empty(t)
			if err := to.restore(place); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, to.contents()); diff != "" {
				t.Errorf("tables (-original +restored):\n%s", diff)
			}
			if err := to.restore(place); err == nil || !strings.Contains(err.Error(), "empty installation only") {
				t.Errorf("error %v of a second restore, want that the tables have rows", err)
			}
			again := to.mustArchive(place)
			if again.Written != 0 || again.Removed != 0 {
				t.Errorf("an archive of the restored tables writes %d files and removes %d, want none", again.Written, again.Removed)
			}
		})
	}
}

// in returns the fixture for a subtest.
func (w *fixture) in(t *testing.T) *fixture {
	one := *w
	one.t = t
	return &one
}

func TestOnlyChangedMonthsAreWritten(t *testing.T) {
	t.Parallel()
	w := full(t)
	for name, place := range places(t) {
		t.Run(name, func(t *testing.T) {
			w := w.in(t)
			first := w.mustArchive(place)
			if again := w.mustArchive(place); again.Written != 0 || again.Kept != first.Written+first.Kept {
				t.Errorf("a second run writes %d files and keeps %d, want 0 and %d", again.Written, again.Kept, first.Written)
			}
			w.exec("INSERT INTO air.reading SELECT * REPLACE (7 AS value, now64(3) AS ingested_at) FROM air.reading FINAL WHERE station = 's0' AND toYYYYMM(at) = 202610 LIMIT 1")
			after := w.mustArchive(place)
			if after.Written != 1 || after.Kept != first.Written-1 {
				t.Errorf("after a correction %d files are written and %d kept, want 1 and %d", after.Written, after.Kept, first.Written-1)
			}
		})
	}
}

// failing fails after some files or bytes, as a full disk does.
type failing struct {
	*archive.Folder

	puts  int
	bytes int
}

var errFull = errors.New("no space left on device")

func (f *failing) Put(ctx context.Context, path string, write func(io.Writer) error) (archive.Stored, error) {
	f.puts--
	return f.Folder.Put(ctx, path, func(w io.Writer) error {
		return write(writer(func(p []byte) (int, error) {
			if f.puts < 0 {
				if f.bytes -= len(p); f.bytes < 0 {
					return 0, errFull
				}
			}
			return w.Write(p)
		}))
	})
}

type writer func(p []byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

func TestFailedRunLeavesTheArchive(t *testing.T) {
	t.Parallel()
	w := full(t)
	dir := t.TempDir()
	w.mustArchive(archive.NewFolder(dir))
	before := files(t, dir)
	w.exec("INSERT INTO air.reading SELECT * REPLACE (7 AS value, now64(3) AS ingested_at) FROM air.reading FINAL")
	for _, place := range []*failing{{archive.NewFolder(dir), 0, 0}, {archive.NewFolder(dir), 1, 100}, {archive.NewFolder(dir), 2, 1000}} {
		if _, err := w.archive(place); !errors.Is(err, errFull) {
			t.Errorf("error %v, want %v", err, errFull)
		}
		if diff := cmp.Diff(before, files(t, dir)); diff != "" {
			t.Errorf("files (-before +after the failure):\n%s", diff)
		}
	}
	if r := w.mustArchive(archive.NewFolder(dir)); r.Written != 4 {
		t.Errorf("%d files written after the failures, want the 4 months of readings", r.Written)
	}
}

// TestInterruptedRenamesAreCompleted stops a run after its first rename. The next restore completes it.
func TestInterruptedRenamesAreCompleted(t *testing.T) {
	t.Parallel()
	w := full(t)
	dir := t.TempDir()
	w.mustArchive(archive.NewFolder(dir))
	w.exec("INSERT INTO air.reading SELECT * REPLACE (7 AS value, now64(3) AS ingested_at) FROM air.reading FINAL")
	want := w.contents()
	blocked := filepath.Join(dir, "reading", "year=2026", "month=11", "reading-2026-11.parquet")
	if err := errors.Join(os.Remove(blocked), os.MkdirAll(filepath.Join(blocked, "full"), 0o700)); err != nil { // a rename fails
		t.Fatal(err)
	}
	if _, err := w.archive(archive.NewFolder(dir)); err == nil {
		t.Fatal("a run succeeded although a file is in its way")
	}
	if err := os.RemoveAll(blocked); err != nil {
		t.Fatal(err)
	}
	to := empty(t)
	if err := to.restore(archive.NewFolder(dir)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, to.contents()); diff != "" {
		t.Errorf("tables (-original +restored):\n%s", diff)
	}
}

func TestDamagedArchiveStoresNothing(t *testing.T) {
	t.Parallel()
	w := full(t)
	dir := t.TempDir()
	m := w.mustArchive(archive.NewFolder(dir)).Manifest
	path := filepath.Join(dir, filepath.FromSlash(m.Tables[len(m.Tables)-1].Files[0].Path))
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)/2] ^= 1
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	to := empty(t)
	want := to.contents()
	if err := to.restore(archive.NewFolder(dir)); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("error %v, want that the file is damaged", err)
	}
	if diff := cmp.Diff(want, to.contents()); diff != "" {
		t.Errorf("tables (-before +after the failure):\n%s", diff)
	}
}

func TestArchiveHasNoPrivateStations(t *testing.T) {
	t.Parallel()
	w := full(t)
	dir := t.TempDir()
	m := w.mustArchive(archive.NewFolder(dir)).Manifest
	i := slices.IndexFunc(m.Tables, func(t archive.Table) bool { return t.Name == "reading" })
	var public uint64
	if err := w.conn.QueryRow(columnstore.Final(t.Context()), "SELECT count() FROM "+w.database+".reading WHERE station != 'private'").Scan(&public); err != nil {
		t.Fatal(err)
	}
	if got := m.Tables[i].Rows(); got != public {
		t.Errorf("%d readings, want the %d of public stations", got, public)
	}
	if slices.ContainsFunc(m.Tables, func(t archive.Table) bool { return t.Name == "attempt" || t.Name == "pushed_station" }) {
		t.Error("the archive has tables about accounts")
	}
}

func TestWrongAddresses(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"s3://", "s3:///x", "s3:/bucket/x", "s3:bucket", "http://bucket/x", "http:/bucket", "s3://key:secret@bucket/x", "s3://bucket/x?region=y"} {
		if _, err := archive.PlaceAt(address, func(string) string { return "" }); err == nil {
			t.Errorf("%s is accepted", address)
		}
	}
}

func TestWorldsDoNotMix(t *testing.T) {
	t.Parallel()
	w := full(t)
	dir := t.TempDir()
	w.mustArchive(archive.NewFolder(dir))
	if _, err := archive.Write(t.Context(), w.conn, archive.NewFolder(dir), archive.Options{World: schema.Sandbox, Database: w.database, Now: now}); err == nil || !strings.Contains(err.Error(), "live world") {
		t.Errorf("error %v of an archive of the other world, want that it is refused", err)
	}
	if _, err := archive.Restore(t.Context(), w.conn, archive.NewFolder(dir), archive.RestoreOptions{World: schema.Sandbox, Tables: migration.Params{Database: w.database}, Now: now}); err == nil || !strings.Contains(err.Error(), "live world") {
		t.Errorf("error %v of a restore into the other world, want that it is refused", err)
	}
}
