// Package clickhouse holds the numbered migrations of the ClickHouse databases.
// One text serves a single node and a cluster: what differs is a template's
// parameter. See package columnstore for the functions a template may use.
package clickhouse

import (
	"embed"

	"vayu/schema/naqi"
)

// Files holds the migrations, NNNN_name.sql in the order in which they are
// applied. A migration that has been released is never edited.
//
//go:embed *.sql
var Files embed.FS

// Values is what the migrations' templates need beside the database's name.
func Values() map[string]any {
	return map[string]any{"Functions": naqi.Functions()}
}
