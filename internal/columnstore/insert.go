package columnstore

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// inserting are the settings of the insert that token names. A file of daily means
// spans more months than the 100 partitions that an insert may touch by default. A
// cluster acknowledges a batch when its shards have it, not when one node has queued
// it, and nobody puts it together with others, because it is large. Deduplication
// is on whatever the server's profile says: it is by the token, and recent servers have
// several settings that turn it on, also by content.
func inserting(token string) clickhouse.QueryOption {
	return clickhouse.WithSettings(clickhouse.Settings{
		"max_partitions_per_insert_block": 0, "distributed_foreground_insert": 1, "async_insert": 0,
		"insert_deduplicate": 1, "insert_deduplication_token": token,
	})
}

// Preparer is what an insert needs of a connection.
type Preparer interface {
	PrepareBatch(ctx context.Context, query string, opts ...driver.PrepareBatchOption) (driver.Batch, error)
}

// NewToken is a token that no insert has had.
func NewToken() string { return rand.Text() }

// Insert stores whole columns in a table, in one insert, and returns nil once
// ClickHouse has acknowledged them. Each of values is a typed slice, in the order
// of columns, which say in what types they travel.
//
// token names the insert. One whose outcome is unknown, because the connection
// broke or time ran out, is repeated with the token and the rows that it had: a
// replicated table then stores what it has not stored yet, also behind a
// distributed one. Another token stores again, so that what came last counts, even
// when it equals what came before: rows themselves are not compared. A table that
// is not replicated stores every insert; there the newer of two equal keys counts.
func Insert(ctx context.Context, conn Preparer, table, token string, columns []clickhouse.ColumnNameAndType, values []any) error {
	names := make([]string, len(columns))
	for i, column := range columns {
		names[i] = column.Name
	}
	ctx = clickhouse.Context(ctx, inserting(token), clickhouse.WithColumnNamesAndTypes(columns))
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
