package migration_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"vayu/internal/columnstore"
	"vayu/internal/columnstore/columnstoretest"
	"vayu/internal/columnstore/migration"
	"vayu/schema/migrations/clickhouse"
)

func TestMain(m *testing.M) { columnstoretest.Main(m) }

const firstFile = `-- A table; the semicolon of this comment does not count;
CREATE TABLE IF NOT EXISTS {{.Database}}.{{local "reading"}} {{.OnCluster}} (a Int32, at DateTime, note String DEFAULT 'x;y')
ENGINE = {{engine "ReplacingMergeTree" "at"}} ORDER BY a;
{{distributed "reading" "cityHash64(a)"}}

INSERT INTO {{.Database}}.reading (a) VALUES (1);
`

func files(more ...string) fstest.MapFS {
	fs := fstest.MapFS{"0001_first.sql": {Data: []byte(firstFile)}}
	for i := 0; i < len(more); i += 2 {
		fs[more[i]] = &fstest.MapFile{Data: []byte(more[i+1])}
	}
	return fs
}

// with returns p with other files.
func with(p migration.Params, files fstest.MapFS) migration.Params {
	p.Files = files
	return p
}

func TestApplyRunsEachFileOnce(t *testing.T) {
	t.Parallel()
	db := columnstoretest.New(t)
	p := migration.Params{Database: columnstoretest.Database(t, db), Values: map[string]any{"Column": "b"}}
	later := files("0002_second.sql", "ALTER TABLE {{.Database}}.reading ADD COLUMN IF NOT EXISTS {{.Column}} Int32;")
	for _, step := range []fstest.MapFS{files(), files(), later, later} {
		var together errgroup.Group // two processes that start concurrently
		for range 2 {
			together.Go(func() error { return migration.Apply(t.Context(), db, with(p, step)) })
		}
		if err := together.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	var rows uint64
	if err := db.Conn().QueryRow(t.Context(), "SELECT count() FROM "+p.Database+".reading WHERE b = 0").Scan(&rows); err != nil {
		t.Fatal(err)
	}
	if rows != 1 {
		t.Errorf("the INSERT of the first file ran %d times, want once", rows)
	}
}

func TestApplyRejects(t *testing.T) {
	t.Parallel()
	db := columnstoretest.New(t)
	for name, c := range map[string]struct {
		then fstest.MapFS
		want string
	}{
		"a database newer than the program": {files("0002_more.sql", "SELECT 1;"), "newer version of this program: it has 0003_last.sql"},
		"an edited file":                    {files("0003_last.sql", "SELECT 2;"), "0003_last.sql was edited"},
		"a name without a number":           {files("last.sql", ""), "NNNN_name.sql"},
		"a number used twice":               {files("0001_again.sql", ""), "one number"},
		"an unset field":                    {files("0003_last.sql", "SELECT 1;", "0004_x.sql", "SELECT {{.Nothing}};"), "0004_x.sql"},
		"a statement that fails":            {files("0003_last.sql", "SELECT 1;", "0004_x.sql", "SELECT 1;\nSELEC;"), "statement 2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := migration.Params{Database: columnstoretest.Database(t, db)}
			if err := migration.Apply(t.Context(), db, with(p, files("0003_last.sql", "SELECT 1;"))); err != nil {
				t.Fatal(err)
			}
			err := migration.Apply(t.Context(), db, with(p, c.then))
			if err == nil || !strings.Contains(err.Error(), c.want) || columnstore.Transient(err) {
				t.Errorf("got %v, want a permanent error with %q", err, c.want)
			}
		})
	}
	if err := migration.Apply(t.Context(), db, migration.Params{Database: "a.b", Files: files()}); err == nil {
		t.Error("a database name with a dot was accepted")
	}
}

// changes records every statement that changes something; queries pass.
type changes struct {
	driver.Conn

	mu   sync.Mutex
	list []string
}

func (c *changes) note(statement string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = append(c.list, statement)
}

func (c *changes) Exec(ctx context.Context, query string, args ...any) error {
	c.note(query)
	return c.Conn.Exec(ctx, query, args...)
}

func (c *changes) PrepareBatch(ctx context.Context, query string, options ...driver.PrepareBatchOption) (driver.Batch, error) {
	c.note(query)
	return c.Conn.PrepareBatch(ctx, query, options...)
}

// watched is a DB with recorded changes.
type watched struct {
	*columnstore.DB

	done *changes
}

func (w watched) Conn() driver.Conn { return w.done }

func watch(db *columnstore.DB) (watched, *changes) {
	done := &changes{Conn: db.Conn()}
	return watched{db, done}, done
}

// A migration creates only what is missing, and a check creates nothing.
func TestUpToDateDatabaseIsNotChanged(t *testing.T) {
	t.Parallel()
	engine := columnstoretest.New(t)
	p := migration.Params{Database: columnstoretest.Database(t, engine), Files: clickhouse.Files, Values: clickhouse.Values()}
	db, done := watch(engine)
	bring := func() int {
		t.Helper()
		done.list = nil
		if err := migration.Apply(t.Context(), db, p); err != nil {
			t.Fatal(err)
		}
		if err := migration.ApplyStorage(t.Context(), db, p); err != nil {
			t.Fatal(err)
		}
		return len(done.list)
	}
	var behind *migration.BehindError
	if err := migration.Check(t.Context(), db, p); !errors.As(err, &behind) {
		t.Errorf("a check of an empty server gives %v, want a BehindError", err)
	} else if behind.Has != "" {
		t.Errorf("a check of an empty server finds %q", behind.Has)
	}
	if len(done.list) > 0 {
		t.Errorf("a check of an empty server sends %q", done.list)
	}
	if first := bring(); first < 10 {
		t.Errorf("the first start sent %d statements", first)
	}
	if again := bring(); again > 0 {
		t.Errorf("a start with everything there sent %q", done.list)
	}
	if err := migration.Check(t.Context(), db, p); err != nil || len(done.list) > 0 {
		t.Errorf("a check gives %v and sends %q", err, done.list)
	}
}

// An up-to-date cluster gets no statement ON CLUSTER, which would wait for an unavailable node.
func TestUpToDateClusterIsNotChanged(t *testing.T) {
	t.Parallel()
	fs := files()
	engine := columnstoretest.Cluster(t, fs, nil)
	p := migration.Params{Database: "vayu", Cluster: columnstoretest.ClusterName, Files: fs}
	db, done := watch(engine)
	if err := migration.Check(t.Context(), db, p); err == nil || !strings.Contains(err.Error(), "no tables yet") {
		t.Errorf("a check of a cluster without records gives %v", err)
	}
	alone := migration.Params{Database: "vayu", Files: fstest.MapFS{"0001_first.sql": fs["0001_first.sql"]}} // records the tables of the fixture
	if err := migration.Apply(t.Context(), engine, alone); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := migration.Apply(t.Context(), db, p); err != nil {
			t.Fatal(err)
		}
	}
	if err := migration.Check(t.Context(), db, p); err != nil || len(done.list) > 0 {
		t.Errorf("a check gives %v after %q", err, done.list)
	}
	err := migration.Apply(t.Context(), db, with(p, files("0002_more.sql", "SELECT 1;")))
	if err == nil || len(done.list) == 0 || !strings.Contains(done.list[0], "ON CLUSTER `air`") {
		t.Errorf("with something missing: %v after %q, want statements ON CLUSTER, which this engine rejects", err, done.list)
	}
}

func TestCheckReportsOlderSide(t *testing.T) {
	t.Parallel()
	db := columnstoretest.New(t)
	p := migration.Params{Database: columnstoretest.Database(t, db)}
	if err := migration.Apply(t.Context(), db, with(p, files("0002_second.sql", "SELECT 1;"))); err != nil {
		t.Fatal(err)
	}
	var behind *migration.BehindError
	err := migration.Check(t.Context(), db, with(p, files("0002_second.sql", "SELECT 1;", "0003_third.sql", "SELECT 1;")))
	if !errors.As(err, &behind) || columnstore.Transient(err) {
		t.Fatalf("older tables give %v", err)
	}
	if diff := cmp.Diff(migration.BehindError{Database: p.Database, Has: "0002_second.sql", Want: "0003_third.sql"}, *behind); diff != "" {
		t.Error(diff)
	}
	for want, other := range map[string]fstest.MapFS{
		"newer version of this program": files(),
		"was edited":                    files("0002_second.sql", "SELECT 2;"),
	} {
		switch err := migration.Check(t.Context(), db, with(p, other)); {
		case err == nil:
			t.Error("got no error")
		case errors.As(err, &behind) || columnstore.Transient(err):
			t.Errorf("got %v, want a refusal: %s", err, want)
		case !strings.Contains(err.Error(), want):
			t.Errorf("err.Error() = %q, want %q in it", err.Error(), want)
		}
	}
}

// server opens a DSN, with a retention of readings.
func server(t *testing.T, dsn string) *columnstore.DB {
	t.Helper()
	cfg := columnstore.Config{Connections: 4, Storage: columnstore.Storage{KeepReadings: 365 * day}}
	if err := cfg.DSN.UnmarshalText([]byte(dsn)); err != nil {
		t.Fatal(err)
	}
	db, err := columnstore.Open(cfg, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Conn().Close() })
	return db
}

// A server has no migration lock, and all processes succeed.
func TestConcurrentMigrationsOfServer(t *testing.T) {
	t.Parallel()
	address, password := columnstoretest.Access(t)
	dsn := "http://default:" + password + "@" + address + "/"
	p := migration.Params{Database: columnstoretest.Database(t, columnstoretest.New(t)), Files: clickhouse.Files, Values: clickhouse.Values()}
	var all errgroup.Group
	for range 3 {
		db := server(t, dsn)
		all.Go(func() error {
			if err := migration.Apply(t.Context(), db, p); err != nil {
				return err
			}
			return migration.ApplyStorage(t.Context(), db, p)
		})
	}
	if err := all.Wait(); err != nil {
		t.Fatal(err)
	}
	var versions, files uint64
	if err := server(t, dsn).Conn().QueryRow(t.Context(),
		"SELECT count(), uniqExact(version) FROM "+p.Database+".migration FINAL").Scan(&versions, &files); err != nil || versions != files || files < 3 {
		t.Errorf("%d rows record %d files (%v), want one each", versions, files, err)
	}
}

// The embedded engine has no Keeper and cannot run them, so only its parser checks them.
func TestClusterStatementsParse(t *testing.T) {
	t.Parallel()
	p := migration.Params{Database: "vayu", Cluster: "air", Files: clickhouse.Files, Values: clickhouse.Values()}
	statements, err := migration.DDL(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range statements {
		if !strings.Contains(s, " ON CLUSTER `air`") && !strings.Contains(s, "INSERT INTO") { // rows go through distributed tables
			t.Errorf("%s is for one node", s)
		}
	}
	storage := columnstore.Storage{KeepReadings: 365 * day, KeepHours: 730 * day, Policy: "tiered", ColdAfter: 30 * day, ColdVolume: "cold"}
	db := columnstoretest.New(t)
	for _, s := range append(statements, migration.StorageStatements(storage, p)...) {
		var text string
		if err := db.Conn().QueryRow(t.Context(), "SELECT formatQuery({text:String})", driver.NamedValue{Name: "text", Value: s}).Scan(&text); err != nil {
			t.Errorf("%s: %v", s, err)
		}
	}
}
