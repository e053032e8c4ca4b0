// Package clickhouse holds the numbered migrations of the ClickHouse databases.
// One text serves a single node and a cluster; template parameters hold the
// differences. See package columnstore for the functions of templates.
package clickhouse

import (
	"embed"

	"vayu/schema/naqi"
)

// Files holds the migrations, NNNN_name.sql in order of application. A released
// migration is never edited.
//
//go:embed *.sql
var Files embed.FS

// Values returns the template values of the migrations, except the database's
// name.
func Values() map[string]any {
	return map[string]any{"Functions": naqi.Functions()}
}
