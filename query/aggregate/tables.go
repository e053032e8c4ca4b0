package aggregate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/sony/gobreaker/v2"
)

const (
	// QueryTimeout limits the time of ClickHouse for one query of a client. The 99th percentile of the time to load a
	// city's history is well below a second. If a query times out, and ClickHouse answers no other query meanwhile,
	// ClickHouse counts as down, even if the connection is open.
	QueryTimeout = 3 * time.Second
	// CachedTimeout is the longest time that a query for cached days waits for a reload of changed days. A reload takes
	// a few milliseconds, or some hundred on a busy machine. While ClickHouse works, a slow answer is better than a
	// stale one.
	CachedTimeout = time.Second
	// DownTimeout replaces CachedTimeout and FillTimeout while the circuit breaker is not closed.
	DownTimeout = 100 * time.Millisecond
	// FillTimeout is the longest time that an answer waits for gap filling. It is shorter than QueryTimeout, because
	// the answer can be sent without gap filling.
	FillTimeout = time.Second
	// breakerTimeout is how long the open breaker rejects all queries. Then it permits one query, to test ClickHouse.
	// This time is shorter than the one in the header Retry-After, after which clients retry.
	breakerTimeout = 2 * time.Second
)

// Each runs a query. It scans each row into `dest` and then calls `row`. If t has a circuit breaker, the query
// goes through the breaker.
func (t Tables) Each(ctx context.Context, dest []any, row func(), query string, args ...any) error {
	run := func() error {
		return t.lastAnswer.observe(func() error { return each(ctx, t.conn, dest, row, query, args...) })
	}
	if t.breaker == nil {
		return run()
	}
	_, err := t.breaker.Execute(func() (struct{}, error) { return struct{}{}, run() })
	return err
}

// MaxStationsPerQuery is the maximum number of stations in one query. The URL has their ids, and
// servers limit its length (http_max_uri_size, 1 MiB).
const MaxStationsPerQuery = 2000

// EachNamed runs a query that has the SQL parameter `stations`. For more than
// MaxStationsPerQuery stations, it runs several queries.
func (t Tables) EachNamed(
	ctx context.Context, stations []string, dest []any, row func(), query string, args ...any,
) error {
	for part := range slices.Chunk(stations, MaxStationsPerQuery) {
		if err := t.Each(ctx, dest, row, query, append(slices.Clone(args), Param("stations", part))...); err != nil {
			return err
		}
	}
	return nil
}

// Healthy reports whether the circuit breaker is closed, or t has none. The breaker
// opens after a failure of ClickHouse.
func (t Tables) Healthy() bool {
	return t.breaker == nil || t.breaker.State() == gobreaker.StateClosed
}

// Conn is the part of a ClickHouse connection that this package uses. Query must be
// safe for concurrent use and respect ctx.
type Conn interface {
	Query(ctx context.Context, query string, args ...any) (driver.Rows, error)
}

// Tables reads the database of one world (live or sandbox).
type Tables struct {
	conn       Conn
	Database   string
	breaker    *breaker // nil for none
	lastAnswer *lastAnswer
}

// NewTables returns the tables of a database, without a circuit breaker.
func NewTables(conn Conn, database string) Tables {
	return Tables{conn: conn, Database: database, lastAnswer: &lastAnswer{}}
}

// WithBreaker returns the same tables on the connection `conn`, with a new circuit breaker of the given name.
func (t Tables) WithBreaker(conn Conn, name string) Tables {
	t.conn, t.breaker = conn, NewBreaker(name)
	return t
}

// SQL returns the SQL text `format` with the name of the database inserted.
func (t Tables) SQL(format string) string {
	return fmt.Sprintf(format, t.Database)
}

// each runs a query. It scans each row into `dest` and then calls `row`.
func each(ctx context.Context, conn Conn, dest []any, row func(), query string, args ...any) error {
	rows, err := conn.Query(ctx, query, args...)
	if err != nil {
		return err
	}
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			_ = rows.Close()
			return err
		}
		row()
	}
	return errors.Join(rows.Err(), rows.Close())
}
