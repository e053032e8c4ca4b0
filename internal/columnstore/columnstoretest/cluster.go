package columnstoretest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"vayu/internal/columnstore"
	"vayu/internal/columnstore/migration"
)

// ClusterName is the cluster's name in the configuration that [Cluster] writes.
const ClusterName = "air"

// oneShard configures a cluster of one shard of one node, which is this engine. The engine does not listen on tcp_port.
const oneShard = `<clickhouse>
	<tcp_port>9000</tcp_port>
	<remote_servers><air><shard><replica><host>127.0.0.1</host><port>9000</port></replica></shard></air></remote_servers>
</clickhouse>`

// replicated matches a replicated table engine in an SQL statement, with its first two arguments (path and replica).
var replicated = regexp.MustCompile(`Replicated((?:Replacing)?MergeTree)\('[^']*', '[^']*'(?:, )?`)

// Cluster starts an engine for one test, as the only node of a cluster. It creates the tables of the migrations in
// `files`, in the database vayu. It runs the statements for a cluster, but without ON CLUSTER and replicas, because
// both need ClickHouse Keeper.
func Cluster(tb testing.TB, files fs.FS, values map[string]any) *columnstore.DB {
	tb.Helper()
	file := filepath.Join(tb.TempDir(), "cluster.xml")
	if err := os.WriteFile(file, []byte(oneShard), 0o600); err != nil {
		tb.Fatal(err)
	}
	db := Start(tb, func(c *columnstore.Config) { c.File = file })
	statements, err := migration.DDL(migration.Params{Database: "vayu", Cluster: ClusterName, Files: files, Values: values})
	if err != nil {
		tb.Fatal(err)
	}
	for _, s := range statements {
		s = replicated.ReplaceAllString(strings.ReplaceAll(s, " ON CLUSTER `"+ClusterName+"`", ""), "$1(")
		if err := db.Conn().Exec(tb.Context(), s); err != nil {
			tb.Fatalf("%s: %v", s, err)
		}
	}
	return db
}
