// Package connection extends the connections of database/sql: one keeps prepared statements, any can be discarded.
package connection

import (
	"context"
	"database/sql"
	"database/sql/driver"
)

// maxStatements bounds how many prepared statements a connection keeps. The program has a few hundred fixed
// texts. The limit bounds the memory that generated texts could fill.
const maxStatements = 512

// Prepared is a connection that keeps its prepared statements, because SQLite spends longer on parsing a
// short statement than on running it (BenchmarkPrepared). It is for one goroutine.
type Prepared struct {
	conn *sql.Conn
	kept map[string]*sql.Stmt
	// reading are the queries whose rows are being read: the same statement cannot run again meanwhile.
	reading map[string]bool
}

// NewPrepared takes over a connection.
func NewPrepared(conn *sql.Conn) *Prepared {
	return &Prepared{conn, map[string]*sql.Stmt{}, map[string]bool{}}
}

// prepared returns the statement of a query. It returns nil if preparing fails or the limit is reached; then
// the connection runs the text and reports the error.
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

// Unprepared returns the connection itself, for statements that run rarely.
func (s *Prepared) Unprepared() *sql.Conn { return s.conn }

// ExecContext runs a prepared statement.
func (s *Prepared) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if stmt := s.prepared(ctx, query); stmt != nil { //nolint:sqlclosecheck // it is kept
		return stmt.ExecContext(ctx, args...)
	}
	return s.conn.ExecContext(ctx, query, args...)
}

// QueryRowContext runs a prepared statement whose row is read at once.
func (s *Prepared) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	if stmt := s.prepared(ctx, query); stmt != nil { //nolint:sqlclosecheck // it is kept
		return stmt.QueryRowContext(ctx, args...)
	}
	return s.conn.QueryRowContext(ctx, query, args...)
}

// QueryContext runs a prepared statement, or an unprepared one if its rows are already being read.
func (s *Prepared) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if stmt := s.prepared(ctx, query); stmt != nil && !s.reading[query] { //nolint:sqlclosecheck // it is kept
		return stmt.QueryContext(ctx, args...)
	}
	return s.conn.QueryContext(ctx, query, args...)
}

// Begin marks a query as being read until end is called.
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

// Discard closes the connection permanently.
func (s *Prepared) Discard() {
	s.forget() // before the connection: SQLite's statements belong to it
	Discard(s.conn)
}

func (s *Prepared) forget() {
	for _, stmt := range s.kept {
		_ = stmt.Close()
	}
	clear(s.kept)
}

// ErrDiscarded makes database/sql drop a connection.
var ErrDiscarded = driver.ErrBadConn

// Discard closes a connection permanently: its pool drops it.
func Discard(conn *sql.Conn) {
	_ = conn.Raw(func(any) error { return ErrDiscarded })
	_ = conn.Close()
}
