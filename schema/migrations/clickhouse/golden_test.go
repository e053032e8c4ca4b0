package clickhouse_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/columnstore/migration"
	"vayu/schema"
	"vayu/schema/migrations/clickhouse"
)

//nolint:gochecknoglobals // a flag of the test binary
var update = flag.Bool("update", false, "write testdata")

// forms are the two forms of the migrations: single node and cluster.
func forms() map[string]migration.Params {
	return map[string]migration.Params{
		"ops":         {Database: schema.OpsDatabase, Files: clickhouse.OpsFiles()},
		"ops_cluster": {Database: schema.OpsDatabase, Cluster: "air", Files: clickhouse.OpsFiles()},
		"single":      {Database: "vayu", Files: clickhouse.Files, Values: clickhouse.Values()},
		"cluster":     {Database: "vayu", Cluster: "air", Files: clickhouse.Files, Values: clickhouse.Values()},
	}
}

// TestStatementsMatchGoldenFiles makes the effect of a changed migration or
// template function visible in a review. After an intended change: go test
// ./schema/migrations/clickhouse -update.
func TestStatementsMatchGoldenFiles(t *testing.T) {
	t.Parallel()
	for name, p := range forms() {
		statements, err := migration.DDL(p)
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Join(statements, ";\n\n") + ";\n"
		file := filepath.Join("testdata", name+".golden.sql")
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s (-file +program; go test -update writes the file):\n%s", name, diff)
		}
	}
}
