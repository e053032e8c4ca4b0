package columnstore

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// InsertContext returns a context with the settings of one INSERT that has the token (see Insert). By default an
// INSERT may write to 100 partitions (months). The context removes this limit, because a file of daily means can have
// more months. A cluster acknowledges a batch when its shards have stored the batch, not when one node has queued it.
// Async insert is off, because batches are large. Deduplication is on, even if the server's profile disables it. It
// compares tokens, not content.
func InsertContext(ctx context.Context, token string) context.Context {
	return clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{
		"max_partitions_per_insert_block": 0, "distributed_foreground_insert": 1, "async_insert": 0,
		"insert_deduplicate": 1, "insert_deduplication_token": token,
	}))
}

// Preparer is the part of a connection that an insert needs.
type Preparer interface {
	PrepareBatch(ctx context.Context, query string, opts ...driver.PrepareBatchOption) (driver.Batch, error)
}

// NewToken returns a new unique token for Insert.
func NewToken() string { return rand.Text() }

// Insert writes whole columns to a table, and returns nil once ClickHouse has stored them. The parameter `values` has a
// typed slice for each of `columns`, in the same order. The columns declare the types on the wire.
//
// On a replicated table, `token` makes the insert idempotent, also through a distributed table. If the outcome is
// unknown, after a broken connection or a timeout, repeat Insert with the same token and rows: the table then stores
// only the missing rows. An insert with a new token always stores its rows, even if they equal stored ones.
//
// A table that is not replicated stores a repeated insert again. In every table, only the newest row of a key is valid.
func Insert(ctx context.Context, conn Preparer, table, token string, columns []clickhouse.ColumnNameAndType, values []any) error {
	names := make([]string, len(columns))
	for i, column := range columns {
		names[i] = column.Name
	}
	ctx = clickhouse.Context(InsertContext(ctx, token), clickhouse.WithColumnNamesAndTypes(columns))
	batch, err := conn.PrepareBatch(ctx, "INSERT INTO "+table+" ("+strings.Join(names, ", ")+")")
	if err != nil {
		return fmt.Errorf("preparing the insert: %w", err)
	}
	defer func() { _ = batch.Close() }() // no-op after Send
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
