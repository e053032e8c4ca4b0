package columnstore

import (
	"context"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"vayu/internal/tracing"
)

// traced records each call of Query, QueryRow, Select and Exec as a span (a timed step) of the trace in its
// context. It records no insert, because inserts belong to no request. A span does not contain the text of the
// query, because some texts contain arguments.
type traced struct{ driver.Conn }

func begin(ctx context.Context, operation string) (context.Context, tracing.Span) {
	ctx, span := tracing.Start(ctx, "clickhouse "+operation, tracing.Client)
	span.Set(tracing.System, "clickhouse")
	span.Set(tracing.Operation, operation)
	return ctx, span
}

// Query runs a query in a span, which ends when the first rows have arrived.
func (t traced) Query(ctx context.Context, query string, args ...any) (driver.Rows, error) {
	ctx, span := begin(ctx, "query")
	rows, err := t.Conn.Query(ctx, query, args...)
	span.Done(err)
	return rows, err
}

// QueryRow runs a query of one row in a span.
func (t traced) QueryRow(ctx context.Context, query string, args ...any) driver.Row {
	ctx, span := begin(ctx, "query")
	row := t.Conn.QueryRow(ctx, query, args...)
	span.Done(row.Err())
	return row
}

// Select reads a whole result into dest, in a span.
func (t traced) Select(ctx context.Context, dest any, query string, args ...any) error {
	ctx, span := begin(ctx, "query")
	err := t.Conn.Select(ctx, dest, query, args...)
	span.Done(err)
	return err
}

// Exec runs a statement in a span.
func (t traced) Exec(ctx context.Context, query string, args ...any) error {
	ctx, span := begin(ctx, "statement")
	err := t.Conn.Exec(ctx, query, args...)
	span.Done(err)
	return err
}
