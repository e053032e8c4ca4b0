package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
)

// maxStatements bounds how many prepared statements a connection keeps. The program has a few hundred fixed
// texts. The limit bounds the memory that generated texts could fill.
const maxStatements = 512

// statements is a connection that keeps its prepared statements, because SQLite spends longer on parsing a
// short statement than on running it (BenchmarkPrepared). It is for one goroutine.
type statements struct {
	conn *sql.Conn
	kept map[string]*sql.Stmt
	// reading are the queries whose rows are being read: the same statement cannot run again meanwhile.
	reading map[string]bool
}

func newStatements(conn *sql.Conn) *statements {
	return &statements{conn, map[string]*sql.Stmt{}, map[string]bool{}}
}

// prepared returns the statement of a query. It returns nil if preparing fails or the limit is reached; then
// the connection runs the text and reports the error.
func (s *statements) prepared(ctx context.Context, query string) *sql.Stmt {
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

// ExecContext runs a prepared statement.
func (s *statements) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if stmt := s.prepared(ctx, query); stmt != nil { //nolint:sqlclosecheck // it is kept
		return stmt.ExecContext(ctx, args...)
	}
	return s.conn.ExecContext(ctx, query, args...)
}

// QueryRowContext runs a prepared statement whose row is read at once.
func (s *statements) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	if stmt := s.prepared(ctx, query); stmt != nil { //nolint:sqlclosecheck // it is kept
		return stmt.QueryRowContext(ctx, args...)
	}
	return s.conn.QueryRowContext(ctx, query, args...)
}

// QueryContext runs a prepared statement, or an unprepared one if its rows are already being read.
func (s *statements) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if stmt := s.prepared(ctx, query); stmt != nil && !s.reading[query] { //nolint:sqlclosecheck // it is kept
		return stmt.QueryContext(ctx, args...)
	}
	return s.conn.QueryContext(ctx, query, args...)
}

// begin marks a query as being read until end is called.
func (s *statements) begin(query string) (end func()) {
	if s.reading[query] {
		return func() {}
	}
	s.reading[query] = true
	return func() { delete(s.reading, query) }
}

// close closes the statements and then returns the connection to the pool.
func (s *statements) close() {
	s.forget()
	_ = s.conn.Close()
}

// discard closes the connection permanently.
func (s *statements) discard() {
	s.forget() // before the connection: SQLite's statements belong to it
	discard(s.conn)
}

func (s *statements) forget() {
	for _, stmt := range s.kept {
		_ = stmt.Close()
	}
	clear(s.kept)
}

// errDiscard makes database/sql drop a connection.
var errDiscard = driver.ErrBadConn

// discard closes a connection permanently: its pool drops it.
func discard(conn *sql.Conn) {
	_ = conn.Raw(func(any) error { return errDiscard })
	_ = conn.Close()
}
