package columnar

import (
	"context"
	"fmt"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// insertSettings of every insert. A file of daily means spans more months than
// the 100 partitions that an insert may touch by default; a batch stored again
// must count again, so that what came last wins; and a cluster acknowledges a
// batch when its shards have it, not when one node has queued it.
var insertSettings = clickhouse.Settings{
	"max_partitions_per_insert_block": 0, "insert_deduplicate": 0, "distributed_foreground_insert": 1,
}

// Insert stores whole columns in a table, in one insert, and returns nil once
// ClickHouse has acknowledged them. Each of values is a typed slice, in the order
// of columns, which say in what types they travel.
func Insert(ctx context.Context, conn driver.Conn, table string, columns []clickhouse.ColumnNameAndType, values []any) error {
	names := make([]string, len(columns))
	for i, column := range columns {
		names[i] = column.Name
	}
	ctx = clickhouse.Context(ctx, clickhouse.WithSettings(insertSettings), clickhouse.WithColumnNamesAndTypes(columns))
	batch, err := conn.PrepareBatch(ctx, "INSERT INTO "+table+" ("+strings.Join(names, ", ")+")")
	if err != nil {
		return fmt.Errorf("preparing the insert: %w", err)
	}
	defer func() { _ = batch.Close() }() // after Send it does nothing
	for i, column := range values {
		if err := batch.Column(i).Append(column); err != nil {
			return fmt.Errorf("appending column %q: %w", columns[i].Name, err)
		}
	}
	if err := batch.Send(); err != nil {
		return fmt.Errorf("sending the insert: %w", err)
	}
	return nil
}
