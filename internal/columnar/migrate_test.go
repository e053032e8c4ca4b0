package columnar_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/sync/errgroup"

	"vayu/internal/columnar"
	"vayu/internal/columnar/columnartest"
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
	db := columnartest.New(t)
	p := columnar.Params{Database: columnartest.Database(t, db), Values: map[string]any{"Column": "b"}}
	later := files("0002_second.sql", "ALTER TABLE {{.Database}}.reading ADD COLUMN IF NOT EXISTS {{.Column}} Int32;")
	for _, step := range []fstest.MapFS{files(), files(), later, later} {
		var together errgroup.Group // two processes that start at once
		for range 2 {
			together.Go(func() error { return columnar.Migrate(t.Context(), db, step, p) })
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

func TestMigrateRefuses(t *testing.T) {
	t.Parallel()
	db := columnartest.New(t)
	for name, c := range map[string]struct {
		then fstest.MapFS
		want string
	}{
		"a database newer than the program": {files("0002_more.sql", "SELECT 1;"), "newer version of this program: it has 0003_last.sql"},
		"an edited file":                    {files("0003_last.sql", "SELECT 2;"), "0003_last.sql was edited"},
		"a name without a number":           {files("last.sql", ""), "NNNN_name.sql"},
		"a number used twice":               {files("0001_again.sql", ""), "one number"},
		"a field nobody gave":               {files("0003_last.sql", "SELECT 1;", "0004_x.sql", "SELECT {{.Nothing}};"), "0004_x.sql"},
		"a statement that fails":            {files("0003_last.sql", "SELECT 1;", "0004_x.sql", "SELECT 1;\nSELEC;"), "statement 2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := columnar.Params{Database: columnartest.Database(t, db)}
			if err := columnar.Migrate(t.Context(), db, files("0003_last.sql", "SELECT 1;"), p); err != nil {
				t.Fatal(err)
			}
			err := columnar.Migrate(t.Context(), db, c.then, p)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
	if err := columnar.Migrate(t.Context(), db, files(), columnar.Params{Database: "a.b"}); err == nil {
		t.Error("a database name with a dot was accepted")
	}
}
