// Package clickhouse has the numbered migrations of the ClickHouse databases. The same text is used for a single node
// and for a cluster. Fields and functions of the template stand for the differences. The type Params of package
// columnstore/migration documents them.
package clickhouse

import (
	"embed"
	"io/fs"

	"vayu/schema/naqi"
	"vayu/schema/views"
)

// Files has the migrations, NNNN_name.sql, which are applied in the order of their numbers. A released migration is
// never edited.
//
//go:embed *.sql
var Files embed.FS

//go:embed ops/*.sql
var opsFiles embed.FS

// OpsFiles returns the migrations of the database [schema.OpsDatabase], named like those in Files.
func OpsFiles() fs.FS {
	files, err := fs.Sub(opsFiles, "ops")
	if err != nil {
		panic(err) // the name is valid
	}
	return files
}

// Private has the tables that analysts cannot read, because their rows name accounts.
var Private = []string{"attempt", "pushed_station"}

// Values returns the fields of the migrations' templates, except the names of the database and the cluster.
func Values() map[string]any {
	return map[string]any{"Functions": naqi.Functions(), "Views": views.Set{}}
}
