package rollup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sony/gobreaker/v2"
)

const (
	// QueryTimeout bounds ClickHouse's work for one client query. The p99 of a
	// city's first load is well under a second. After three seconds ClickHouse
	// counts as down, even if its socket is open.
	QueryTimeout = 3 * time.Second
	// CachedTimeout is how long a query with cached days waits for newer ones.
	// Reading these takes milliseconds, or hundreds on a busy machine. If
	// ClickHouse is healthy, a slow answer is better than a stale one.
	CachedTimeout = time.Second
	// DownTimeout replaces cachedTimeout after a failure of ClickHouse.
	DownTimeout = 100 * time.Millisecond
	// FillTimeout is how long an answer waits for gap filling. It is shorter than
	// queryTimeout, because everything else of the answer is ready.
	FillTimeout = time.Second
	// breakerTimeout is how long the open breaker rejects queries before it lets
	// one test ClickHouse. Retry-After is of the same order.
	breakerTimeout = 2 * time.Second
)

// Each calls the function each, through the circuit breaker if there is one.
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

// MaxStationsPerQuery bounds the stations of one query. The client sends them in
// the URL, whose length servers limit (http_max_uri_size, 1 MiB).
const MaxStationsPerQuery = 2000

// EachNamed runs a query that has the SQL parameter `stations`. It splits a long
// list of stations into several queries.
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

// Healthy reports whether ClickHouse answered the last query.
func (t Tables) Healthy() bool {
	return t.breaker == nil || t.breaker.State() == gobreaker.StateClosed
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

// WithBreaker returns the same tables for other queries, which a circuit breaker of
// this name guards.
func (t Tables) WithBreaker(conn Conn, name string) Tables {
	t.conn, t.breaker = conn, NewBreaker(name)
	return t
}

// SQL inserts the name of the database into a format.
func (t Tables) SQL(format string) string {
	return fmt.Sprintf(format, t.Database)
}

// each runs a query and calls row after it has scanned each row into dest.
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
