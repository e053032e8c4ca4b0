package columnstore_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"vayu/internal/columnstore"
	"vayu/internal/columnstore/columnstoretest"
	"vayu/schema/migrations/clickhouse"
)

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

func TestMigrateAppliesEachFileOnce(t *testing.T) {
	t.Parallel()
	db := columnstoretest.New(t)
	p := columnstore.Params{Database: columnstoretest.Database(t, db), Values: map[string]any{"Column": "b"}}
	later := files("0002_second.sql", "ALTER TABLE {{.Database}}.reading ADD COLUMN IF NOT EXISTS {{.Column}} Int32;")
	for _, step := range []fstest.MapFS{files(), files(), later, later} {
		var together errgroup.Group // two processes that start concurrently
		for range 2 {
			together.Go(func() error { return columnstore.Migrate(t.Context(), db, step, p) })
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

func TestMigrateRejects(t *testing.T) {
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
			p := columnstore.Params{Database: columnstoretest.Database(t, db)}
			if err := columnstore.Migrate(t.Context(), db, files("0003_last.sql", "SELECT 1;"), p); err != nil {
				t.Fatal(err)
			}
			err := columnstore.Migrate(t.Context(), db, c.then, p)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
	if err := columnstore.Migrate(t.Context(), db, files(), columnstore.Params{Database: "a.b"}); err == nil {
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

// watched is db with recorded changes.
func watched(db *columnstore.DB) (*columnstore.DB, *changes) {
	c := new(changes)
	return columnstore.Through(db, func(conn driver.Conn) driver.Conn { c.Conn = conn; return c }), c
}

// A migration creates only what is missing, and a check creates nothing.
func TestUpToDateDatabaseIsNotChanged(t *testing.T) {
	t.Parallel()
	engine := columnstoretest.New(t)
	p := columnstore.Params{Database: columnstoretest.Database(t, engine), Values: clickhouse.Values()}
	db, done := watched(engine)
	bring := func() int {
		t.Helper()
		done.list = nil
		if err := columnstore.Migrate(t.Context(), db, clickhouse.Files, p); err != nil {
			t.Fatal(err)
		}
		if err := db.ApplyStorage(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		return len(done.list)
	}
	var behind *columnstore.BehindError
	if err := columnstore.CheckMigrated(t.Context(), db, clickhouse.Files, p); !errors.As(err, &behind) || behind.Has != "" || len(done.list) > 0 {
		t.Errorf("a check of an empty server gives %v and sends %q", err, done.list)
	}
	if first := bring(); first < 10 {
		t.Errorf("the first start sent %d statements", first)
	}
	if again := bring(); again > 0 {
		t.Errorf("a start with everything there sent %q", done.list)
	}
	if err := columnstore.CheckMigrated(t.Context(), db, clickhouse.Files, p); err != nil || len(done.list) > 0 {
		t.Errorf("a check gives %v and sends %q", err, done.list)
	}
}

// An up-to-date cluster gets no statement ON CLUSTER, which would wait for an unavailable node.
func TestUpToDateClusterIsNotChanged(t *testing.T) {
	t.Parallel()
	fs := files()
	engine := columnstoretest.Cluster(t, fs, nil)
	p := columnstore.Params{Database: "vayu", Cluster: columnstoretest.ClusterName}
	db, done := watched(engine)
	if err := columnstore.CheckMigrated(t.Context(), db, fs, p); err == nil || !strings.Contains(err.Error(), "no tables yet") {
		t.Errorf("a check of a cluster without records gives %v", err)
	}
	alone := columnstore.Params{Database: "vayu"} // records the tables of the fixture
	if err := columnstore.Migrate(t.Context(), engine, fstest.MapFS{"0001_first.sql": fs["0001_first.sql"]}, alone); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := columnstore.Migrate(t.Context(), db, fs, p); err != nil {
			t.Fatal(err)
		}
	}
	if err := columnstore.CheckMigrated(t.Context(), db, fs, p); err != nil || len(done.list) > 0 {
		t.Errorf("a check gives %v after %q", err, done.list)
	}
	err := columnstore.Migrate(t.Context(), db, files("0002_more.sql", "SELECT 1;"), p)
	if err == nil || len(done.list) == 0 || !strings.Contains(done.list[0], "ON CLUSTER `air`") {
		t.Errorf("with something missing: %v after %q, want statements ON CLUSTER, which this engine rejects", err, done.list)
	}
}

func TestCheckMigratedReportsOlderSide(t *testing.T) {
	t.Parallel()
	db := columnstoretest.New(t)
	p := columnstore.Params{Database: columnstoretest.Database(t, db)}
	if err := columnstore.Migrate(t.Context(), db, files("0002_second.sql", "SELECT 1;"), p); err != nil {
		t.Fatal(err)
	}
	var behind *columnstore.BehindError
	err := columnstore.CheckMigrated(t.Context(), db, files("0002_second.sql", "SELECT 1;", "0003_third.sql", "SELECT 1;"), p)
	if !errors.As(err, &behind) {
		t.Fatalf("older tables give %v", err)
	}
	if diff := cmp.Diff(columnstore.BehindError{Database: p.Database, Has: "0002_second.sql", Want: "0003_third.sql"}, *behind); diff != "" {
		t.Error(diff)
	}
	for want, other := range map[string]fstest.MapFS{
		"newer version of this program": files(),
		"was edited":                    files("0002_second.sql", "SELECT 2;"),
	} {
		switch err := columnstore.CheckMigrated(t.Context(), db, other, p); {
		case err == nil:
			t.Error("got no error")
		case errors.As(err, &behind) || columnstore.Transient(err):
			t.Errorf("got %v, want a refusal: %s", err, want)
		case !strings.Contains(err.Error(), want):
			t.Errorf("err.Error() = %q, want %q in it", err.Error(), want)
		}
	}
}
