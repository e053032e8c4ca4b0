// Package connection keeps the prepared statements of a database/sql connection, and discards connections.
package connection

import (
	"context"
	"database/sql"
	"database/sql/driver"
)

// maxStatements bounds how many prepared statements a connection keeps. It suffices for the few hundred fixed SQL texts
// of the program. Without a limit, generated texts could fill the memory.
const maxStatements = 512

// Prepared is a connection that keeps its prepared statements, because SQLite takes longer to parse a short
// statement than to run it (BenchmarkPrepared). It is not safe for concurrent use.
type Prepared struct {
	conn *sql.Conn
	kept map[string]*sql.Stmt
	// reading has the queries whose rows are being read. Their prepared statements cannot run again meanwhile.
	reading map[string]bool
}

// NewPrepared returns a Prepared that owns conn.
func NewPrepared(conn *sql.Conn) *Prepared {
	return &Prepared{conn, map[string]*sql.Stmt{}, map[string]bool{}}
}

// prepared returns the prepared statement of a query. It returns nil if preparing fails or maxStatements is reached.
// The caller then runs the query unprepared, which also reports the error.
func (s *Prepared) prepared(ctx context.Context, query string) *sql.Stmt {
	if stmt := s.kept[query]; stmt != nil || len(s.kept) >= maxStatements {
		return stmt
	}
	stmt, err := s.conn.PrepareContext(ctx, query)
	if err != nil {
		return nil
	}
	s.kept[query] = stmt
	return stmt
}

// Unprepared returns the underlying connection, for statements that are not worth preparing.
func (s *Prepared) Unprepared() *sql.Conn { return s.conn }

// ExecContext prepares a statement, unless it is prepared already, and executes it.
func (s *Prepared) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if stmt := s.prepared(ctx, query); stmt != nil { //nolint:sqlclosecheck // it is kept
		return stmt.ExecContext(ctx, args...)
	}
	return s.conn.ExecContext(ctx, query, args...)
}

// QueryRowContext runs a prepared query of one row. Scan the row before the next call.
func (s *Prepared) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	if stmt := s.prepared(ctx, query); stmt != nil { //nolint:sqlclosecheck // it is kept
		return stmt.QueryRowContext(ctx, args...)
	}
	return s.conn.QueryRowContext(ctx, query, args...)
}

// QueryContext runs a prepared query. It runs the query unprepared while rows of the same query are being read.
func (s *Prepared) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if stmt := s.prepared(ctx, query); stmt != nil && !s.reading[query] { //nolint:sqlclosecheck // it is kept
		return stmt.QueryContext(ctx, args...)
	}
	return s.conn.QueryContext(ctx, query, args...)
}

// Begin records that rows of a query are being read, until the function `end` is called. SQLite cannot run a prepared
// statement again in that time, so [Prepared.QueryContext] runs the same query unprepared.
func (s *Prepared) Begin(query string) (end func()) {
	if s.reading[query] {
		return func() {}
	}
	s.reading[query] = true
	return func() { delete(s.reading, query) }
}

// Close closes the statements and then returns the connection to the pool.
func (s *Prepared) Close() {
	s.forget()
	_ = s.conn.Close()
}

// Discard closes the statements and the connection, which its pool then drops.
func (s *Prepared) Discard() {
	s.forget() // first, because SQLite's statements belong to the connection
	Discard(s.conn)
}

func (s *Prepared) forget() {
	for _, stmt := range s.kept {
		_ = stmt.Close()
	}
	clear(s.kept)
}

// ErrDiscarded makes database/sql drop a connection when a function passed to Conn.Raw returns ErrDiscarded.
var ErrDiscarded = driver.ErrBadConn

// Discard closes a connection and makes its pool drop the connection.
func Discard(conn *sql.Conn) {
	_ = conn.Raw(func(any) error { return ErrDiscarded })
	_ = conn.Close()
}
