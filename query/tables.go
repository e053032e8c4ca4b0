package query

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sony/gobreaker/v2"
)

const (
	// queryTimeout bounds ClickHouse's work for one client query. The p99 of a
	// city's first load is well under a second. After three seconds ClickHouse
	// counts as down, even if its socket is open.
	queryTimeout = 3 * time.Second
	// cachedTimeout is how long a query with cached days waits for newer ones.
	// Reading these takes milliseconds, or hundreds on a busy machine. If
	// ClickHouse is healthy, a slow answer is better than a stale one.
	cachedTimeout = time.Second
	// downTimeout replaces cachedTimeout after a failure of ClickHouse.
	downTimeout = 100 * time.Millisecond
	// fillTimeout is how long an answer waits for gap filling. It is shorter than
	// queryTimeout, because everything else of the answer is ready.
	fillTimeout = time.Second
	// breakerTimeout is how long the open breaker rejects queries before it lets
	// one test ClickHouse. Retry-After is of the same order.
	breakerTimeout = 2 * time.Second
)

// each calls the function each, through the circuit breaker if there is one.
func (t tables) each(ctx context.Context, dest []any, row func(), query string, args ...any) error {
	run := func() error {
		return t.lastAnswer.observe(func() error { return each(ctx, t.conn, dest, row, query, args...) })
	}
	if t.breaker == nil {
		return run()
	}
	_, err := t.breaker.Execute(func() (struct{}, error) { return struct{}{}, run() })
	return err
}

// maxStationsPerQuery bounds the stations of one query. The client sends them in
// the URL, whose length servers limit (http_max_uri_size, 1 MiB).
const maxStationsPerQuery = 2000

// eachNamed runs a query that has the SQL parameter `stations`. It splits a long
// list of stations into several queries.
func (t tables) eachNamed(
	ctx context.Context, stations []string, dest []any, row func(), query string, args ...any,
) error {
	for part := range slices.Chunk(stations, maxStationsPerQuery) {
		if err := t.each(ctx, dest, row, query, append(slices.Clone(args), param("stations", part))...); err != nil {
			return err
		}
	}
	return nil
}

// healthy reports whether ClickHouse answered the last query.
func (t tables) healthy() bool {
	return t.breaker == nil || t.breaker.State() == gobreaker.StateClosed
}

// tables reads one world's database.
type tables struct {
	conn       Conn
	database   string
	breaker    *breaker // nil for none
	lastAnswer *lastAnswer
}

// newTables returns the tables of a database, without a circuit breaker.
func newTables(conn Conn, database string) tables {
	return tables{conn: conn, database: database, lastAnswer: &lastAnswer{}}
}

// withBreaker returns the same tables for other queries, which a circuit breaker of
// this name guards.
func (t tables) withBreaker(conn Conn, name string) tables {
	t.conn, t.breaker = conn, newBreaker(name)
	return t
}

func (t tables) sql(format string) string {
	return fmt.Sprintf(format, t.database)
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
