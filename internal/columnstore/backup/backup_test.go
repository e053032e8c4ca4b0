package backup_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	clickhouse "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"vayu/internal/columnstore"
	"vayu/internal/columnstore/backup"
	"vayu/internal/columnstore/columnstoretest"
	"vayu/internal/columnstore/migration"
)

func TestMain(m *testing.M) { columnstoretest.Main(m) }

// keptTables have the types of the real ones; figure is derived from reading.
const keptTables = `CREATE TABLE IF NOT EXISTS {{.Database}}.{{local "reading"}} {{.OnCluster}}
(station LowCardinality(String), kind Enum8('a' = 1, 'b' = 2), at DateTime('UTC'), value Float64, note Nullable(String), stored DateTime64(3, 'UTC') DEFAULT now64(3))
ENGINE = {{engine "ReplacingMergeTree" "stored"}} PARTITION BY toYYYYMM(at) ORDER BY (station, at);
{{distributed "reading" "cityHash64(station)"}}
CREATE TABLE IF NOT EXISTS {{.Database}}.{{local "figure"}} {{.OnCluster}} (at DateTime('UTC'), mean Nullable(Float64), day Date)
ENGINE = {{engine "ReplacingMergeTree"}} ORDER BY at;
CREATE TABLE IF NOT EXISTS {{.Database}}.{{local "nothing"}} {{.OnCluster}} (a UInt8) ENGINE = {{engine "MergeTree"}} ORDER BY a;
`

func keptFiles() fstest.MapFS { return fstest.MapFS{"0001_kept.sql": {Data: []byte(keptTables)}} }

// fillReadings stores 150,000 readings over three months, a third of them twice, and derived rows.
func fillReadings(t *testing.T, db *columnstore.DB, name string) {
	t.Helper()
	const values = `SELECT 'station ' || toString(number % 7), if(number % 2 = 0, 'a', 'b'), toDateTime('2026-01-01 00:00:00', 'UTC') + number * 50,
		if(number % 1000 = 1, nan, number / 7), if(number % 3 = 0, NULL, 'note ' || toString(number)), now64(3) + `
	for _, statement := range []string{
		"INSERT INTO " + name + ".reading " + values + "0 FROM numbers(150000)",
		"INSERT INTO " + name + ".reading " + values + "1 FROM numbers(50000)",
		"INSERT INTO " + name + ".figure SELECT toStartOfHour(at), avgOrNull(value), toDate(at) FROM " + name + ".reading GROUP BY 1, 3",
	} {
		if err := db.Conn().Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
}

// contents is the visible content of the two tables.
func contents(t *testing.T, db *columnstore.DB, name string) (c struct{ Readings, Reading, Figures, Figure uint64 }) {
	t.Helper()
	err := db.Conn().QueryRow(t.Context(), strings.ReplaceAll(`SELECT
		(SELECT count() FROM NAME.reading FINAL), (SELECT sum(cityHash64(toString(tuple(*)))) FROM NAME.reading FINAL),
		(SELECT count() FROM NAME.figure FINAL), (SELECT sum(cityHash64(toString(tuple(*)))) FROM NAME.figure FINAL)`, "NAME", name),
	).Scan(&c.Readings, &c.Reading, &c.Figures, &c.Figure)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// kept is a database that was filled and backed up.
type kept struct {
	db        *columnstore.DB
	databases []migration.Params
	name      string
	dir       string
}

func keep(t *testing.T) kept {
	t.Helper()
	db := columnstoretest.New(t)
	k := kept{db: db, name: columnstoretest.Database(t, db), dir: filepath.Join(t.TempDir(), "backup")}
	k.databases = []migration.Params{{Database: k.name, Files: keptFiles()}}
	if err := migration.Apply(t.Context(), db, k.databases[0]); err != nil {
		t.Fatal(err)
	}
	fillReadings(t, db, k.name)
	if _, err := backup.Write(t.Context(), db, k.databases, k.dir); err != nil {
		t.Fatal(err)
	}
	return k
}

// wrapped is a DB with another connection.
type wrapped struct {
	*columnstore.DB

	conn driver.Conn
}

func (w wrapped) Conn() driver.Conn { return w.conn }

// rowsOnly is a connection with the limits of the native protocol.
type rowsOnly struct{ driver.Conn }

func (rowsOnly) QueryFormat(context.Context, string, string, ...any) (io.ReadCloser, error) {
	return nil, clickhouse.ErrFormatNativeUnsupported
}

func (rowsOnly) InsertFormat(context.Context, string, string, io.Reader) error {
	return clickhouse.ErrFormatNativeUnsupported
}

func TestRestoreEqualsBackup(t *testing.T) {
	t.Parallel()
	k := keep(t)
	want := contents(t, k.db, k.name)
	byRows := func(db *columnstore.DB) backup.Store { return wrapped{db, rowsOnly{db.Conn()}} }
	dir := filepath.Join(t.TempDir(), "by rows")
	m, err := backup.Write(t.Context(), byRows(k.db), k.databases, dir)
	if err != nil {
		t.Fatal(err)
	}
	var tables []string
	for _, table := range m.Databases[0].Tables {
		tables = append(tables, table.Name)
	}
	if diff := cmp.Diff([]string{"nothing", "figure", "reading"}, tables); diff != "" {
		t.Errorf("the tables that were read (-want +got):\n%s", diff)
	}
	switch count, rows, bytes, raw := m.Size(); {
	case count != 3:
		t.Errorf("count = %v, want 3", count)
	case rows != want.Readings+want.Figures:
		t.Errorf("rows = %v, want %v", rows, want.Readings+want.Figures)
	case bytes == 0:
		t.Error("bytes is 0")
	case raw < bytes:
		t.Errorf("raw = %v, want at least %v", raw, bytes)
	}
	for name, c := range map[string]struct {
		dir string
		way func(*columnstore.DB) backup.Store
	}{
		"by columns": {k.dir, func(db *columnstore.DB) backup.Store { return db }},
		"by rows":    {dir, byRows},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := columnstoretest.Start(t, func(*columnstore.Config) {})
			if _, err := backup.Restore(t.Context(), c.way(db), k.databases, c.dir); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, contents(t, db, k.name)); diff != "" {
				t.Errorf("restored (-want +got):\n%s", diff)
			}
			if _, err := backup.Restore(t.Context(), db, k.databases, c.dir); err == nil || !strings.Contains(err.Error(), ".figure has") {
				t.Errorf("a restore over rows that are there: got %v, want it refused", err)
			}
		})
	}
}

// Every derived row of a backup has its source reading, while both tables grow.
func TestBackupContainsSourcesOfDerivedRows(t *testing.T) {
	t.Parallel()
	k := keep(t)
	ctx, stop := context.WithCancel(t.Context())
	var busy errgroup.Group
	first := make(chan struct{})
	busy.Go(func() error {
		for n := 0; ctx.Err() == nil; n++ {
			for _, statement := range []string{
				"INSERT INTO " + k.name + ".reading (station, kind, at) SELECT 'busy', 'a', toDateTime('2027-01-01 00:00:00', 'UTC') + {n:UInt32}",
				"INSERT INTO " + k.name + ".figure (at) SELECT toDateTime('2027-01-01 00:00:00', 'UTC') + {n:UInt32}",
			} {
				if err := k.db.Conn().Exec(t.Context(), statement, clickhouse.Named("n", n)); err != nil {
					return err
				}
			}
			if n == 0 {
				close(first)
			}
		}
		return nil
	})
	<-first
	dir := filepath.Join(t.TempDir(), "busy")
	_, err := backup.Write(t.Context(), k.db, k.databases, dir)
	stop()
	if err := errors.Join(err, busy.Wait()); err != nil {
		t.Fatal(err)
	}
	db := columnstoretest.Start(t, func(*columnstore.Config) {})
	if _, err := backup.Restore(t.Context(), db, k.databases, dir); err != nil {
		t.Fatal(err)
	}
	var figures, orphans uint64
	if err := db.Conn().QueryRow(t.Context(), strings.ReplaceAll(`SELECT count(), countIf(at NOT IN (SELECT at FROM NAME.reading))
		FROM NAME.figure WHERE at >= '2027-01-01'`, "NAME", k.name)).Scan(&figures, &orphans); err != nil {
		t.Fatal(err)
	}
	if figures == 0 || orphans > 0 {
		t.Errorf("of %d figures %d have no reading", figures, orphans)
	}
}

// cancelling cancels the context at the second partition.
type cancelling struct {
	driver.Conn
	cancel  context.CancelFunc
	queries *int
}

func (c cancelling) QueryFormat(ctx context.Context, format, query string, args ...any) (io.ReadCloser, error) {
	if *c.queries++; *c.queries == 2 {
		c.cancel()
	}
	return c.Conn.QueryFormat(ctx, format, query, args...)
}

func TestCancelledBackupIsIncomplete(t *testing.T) {
	t.Parallel()
	k := keep(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	dir := filepath.Join(t.TempDir(), "half")
	db := wrapped{k.db, cancelling{k.db.Conn(), cancel, new(int)}}
	if _, err := backup.Write(ctx, db, k.databases, dir); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's error", err)
	}
	if files, _ := filepath.Glob(filepath.Join(dir, k.name, "*", "*")); len(files) != 1 {
		t.Errorf("the cancelled backup wrote %q, want one file", files)
	}
	if _, err := backup.Restore(t.Context(), k.db, k.databases, dir); err == nil || !strings.Contains(err.Error(), "no whole backup") {
		t.Errorf("restoring half a backup: got %v, want it refused", err)
	}
	if _, err := backup.Write(t.Context(), k.db, k.databases, dir); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("a backup into the remains of another: got %v, want it refused", err)
	}
}

func TestFailedRestoreLeavesNothing(t *testing.T) {
	t.Parallel()
	k := keep(t)
	want := contents(t, k.db, k.name)
	db := columnstoretest.Start(t, func(*columnstore.Config) {})
	file := filepath.Join(k.dir, k.name, "reading", "202602.native.zst")
	manifest := filepath.Join(k.dir, "manifest.json")
	whole := map[string][]byte{}
	for _, path := range []string{file, manifest} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		whole[path] = text
	}
	flipped := append([]byte(nil), whole[file]...)
	flipped[len(flipped)/2] ^= 1
	edited := func(edit func(*backup.Manifest)) []byte {
		m, err := backup.ParseManifest(whole[manifest])
		if err != nil {
			t.Fatal(err)
		}
		edit(&m)
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	for name, c := range map[string]struct {
		path      string
		text      []byte
		databases []migration.Params
		want      string
	}{
		"a bit that flipped":        {file, flipped, k.databases, "202602.native.zst is damaged"},
		"a file cut short":          {file, whole[file][:1000], k.databases, "202602.native.zst is damaged"},
		"an unknown database":       {file, whole[file], nil, "does not know"},
		"a manifest that is no one": {manifest, []byte("{"), k.databases, "manifest.json is damaged"},
		"a newer format":            {manifest, edited(func(m *backup.Manifest) { m.Format = 2 }), k.databases, "upgrade the program"},
		"a newer database": {manifest, edited(func(m *backup.Manifest) {
			d := &m.Databases[0]
			d.Migrations = append(d.Migrations, d.Migrations[0])
			d.Migrations[1].Version++
		}), k.databases, "newer version of this program"},
		"contents that differ": {manifest, edited(func(m *backup.Manifest) { m.Databases[0].Tables[2].Files[1].Hash++ }), k.databases, "table reading: the restored rows differ from the backup"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(c.path, c.text, 0o600); err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := os.WriteFile(c.path, whole[c.path], 0o600); err != nil {
					t.Error(err)
				}
			}()
			if _, err := backup.Restore(t.Context(), db, c.databases, k.dir); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
	if _, err := backup.Restore(t.Context(), db, k.databases, k.dir); err != nil {
		t.Fatalf("after all these: %v", err)
	}
	if diff := cmp.Diff(want, contents(t, db, k.name)); diff != "" {
		t.Errorf("restored (-want +got):\n%s", diff)
	}
}

// A migration newer than the backup runs on the restored rows.
func TestRestoreMigratesOlderBackup(t *testing.T) {
	t.Parallel()
	k := keep(t)
	db := columnstoretest.Start(t, func(*columnstore.Config) {})
	newer := keptFiles()
	newer["0002_double.sql"] = &fstest.MapFile{Data: []byte(`ALTER TABLE {{.Database}}.{{local "figure"}} ADD COLUMN IF NOT EXISTS half Nullable(Float64) DEFAULT mean / 2;
CREATE TABLE IF NOT EXISTS {{.Database}}.seen ENGINE = MergeTree ORDER BY n AS SELECT count() AS n FROM {{.Database}}.figure FINAL;
`)}
	if _, err := backup.Restore(t.Context(), db, []migration.Params{{Database: k.name, Files: newer}}, k.dir); err != nil {
		t.Fatal(err)
	}
	var seen, figures uint64
	if err := db.Conn().QueryRow(t.Context(), "SELECT (SELECT n FROM "+k.name+".seen), count() FROM "+k.name+".figure FINAL WHERE half IS NOT NULL").Scan(&seen, &figures); err != nil {
		t.Fatal(err)
	}
	if want := contents(t, k.db, k.name).Figures; seen != want || figures != want {
		t.Errorf("the later migration saw %d figures and made %d; the backup has %d", seen, figures, want)
	}
}

func FuzzParseManifest(f *testing.F) {
	f.Add([]byte(`{"format":1,"databases":[{"name":"vayu","tables":[{"name":"reading","columns":["at"],"files":[{"path":"a/b","rows":1,"hash":"00000000000000ff"}]}]}]}`))
	f.Add([]byte(`{"format":1,"databases":[{"tables":[{"files":[{"path":"../../etc/passwd"}]}]}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := backup.ParseManifest(text)
		if err != nil {
			return
		}
		for _, d := range m.Databases {
			for _, table := range d.Tables {
				for _, file := range table.Files {
					if !filepath.IsLocal(file.Path) {
						t.Errorf("%q leads out of the backup", file.Path)
					}
				}
			}
		}
	})
}
