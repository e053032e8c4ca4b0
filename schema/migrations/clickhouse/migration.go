// Package clickhouse has the numbered migrations of the ClickHouse databases. One text
// serves both a single node and a cluster: template parameters stand for the
// differences. Package columnstore describes the functions of the templates.
package clickhouse

import (
	"embed"
	"io/fs"

	"vayu/schema/naqi"
)

// Files has the migrations, NNNN_name.sql, in the order in which they are applied. A
// released migration is never edited.
//
//go:embed *.sql
var Files embed.FS

//go:embed ops/*.sql
var opsFiles embed.FS

// OpsFiles returns the migrations of the database [schema.OpsDatabase], in the form of Files.
func OpsFiles() fs.FS {
	files, err := fs.Sub(opsFiles, "ops")
	if err != nil {
		panic(err) // the name is valid
	}
	return files
}

// Values returns the values for the migrations' template parameters, except the
// database's name.
func Values() map[string]any {
	return map[string]any{"Functions": naqi.Functions()}
}
