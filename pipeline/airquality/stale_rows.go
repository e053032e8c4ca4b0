package airquality

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"vayu/schema/statement"
)

// eraseChunk is the maximum number of row keys in one statement that removes rows.
const eraseChunk = 1000

// sweep removes the outdated rows of a chunk from the table of a step. A row is outdated if it was computed before the
// pass started, because the step has not written it again in this pass. `ctx` has the query parameters of the chunk
// (see chunk.parameters).
func (r *Rollup) sweep(ctx context.Context, s step, started time.Time) error {
	var keys []string
	text := make([]string, len(s.key))
	for i, column := range s.key {
		text[i] = "toString(" + column + ")"
	}
	rows, err := r.conn.Query(ctx, "SELECT "+strings.Join(text, ", ")+" "+s.stale+" AND EXISTS (SELECT 1 "+strings.Replace(s.stale, " FINAL", "", 1)+" LIMIT 1)")
	if err != nil {
		return fmt.Errorf("selecting rows: %w", err)
	}
	defer func() { _ = rows.Close() }()
	values := make([]string, len(s.key))
	dest := make([]any, len(s.key))
	for i := range values {
		dest[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return fmt.Errorf("selecting rows: %w", err)
		}
		keys = append(keys, "("+statement.QuoteAll(values)+")")
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("selecting rows: %w", err)
	}
	for part := range slices.Chunk(keys, eraseChunk) {
		if err := r.erase(ctx, s, part, started); err != nil {
			return err
		}
	}
	r.metrics.removed.WithLabelValues(s.table).Add(float64(len(keys)))
	return nil
}

// erase removes the rows with the given keys. In a table whose engine supports a column `removed`, erase inserts
// tombstones. In the other tables, which still have the engine of Vayu 0.1.0, it deletes the rows on every node, unless
// they were written again after `started`.
func (r *Rollup) erase(ctx context.Context, s step, keys []string, started time.Time) error {
	columns, list := strings.Join(s.key, ", "), strings.Join(keys, ", ")
	if !s.removes {
		// This setting lets roll-ups continue on the other nodes if a node of the cluster is down.
		ctx = clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{"distributed_ddl_output_mode": "none_only_active"}))
		return r.conn.Exec(ctx, fmt.Sprintf("DELETE FROM %s WHERE (%s) IN (%s) AND computed_at < fromUnixTimestamp64Milli(%d)",
			r.tables.LocalTable(s.table), columns, list, started.UnixMilli()))
	}
	return r.write(ctx, fmt.Sprintf(`INSERT INTO %[1]s.%[2]s (%[3]s, expected, computed_at, removed)
		SELECT %[3]s, 1, fromUnixTimestamp64Milli(%[4]d), 1 FROM %[1]s.%[2]s FINAL WHERE (%[3]s) IN (%[5]s) %[6]s`,
		r.tables.Database, s.table, columns, started.UnixMilli(), list, insertSettings))
}
