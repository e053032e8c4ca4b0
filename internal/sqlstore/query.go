package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"vayu/internal/sqlstore/connection"
	"vayu/schema"
)

// Querier runs queries. It is a [Tx] or a [View]. Placeholders are $1, $2, …
type Querier interface {
	QueryRow(query string, args ...any) Row
	scan(query string, args, dest []any) error
	each(do func(Scanner) error, query string, args []any) error
}

// Scanner is a row whose columns Scan reads into variables.
type Scanner interface {
	Scan(dest ...any) error
}

// Row is a query for one row, before it runs. Scan runs the query.
type Row struct {
	of    Querier
	query string
	args  []any
}

// Scan runs the query and reads its row. The error is sql.ErrNoRows if there is no row.
func (r Row) Scan(dest ...any) error { return r.of.scan(r.query, r.args, dest) }

// One runs a query and returns its row, which the function `scan` reads. `found` is false if there is no row.
func One[T any](q Querier, scan func(Scanner) (T, error), query string, args ...any) (row T, found bool, err error) {
	row, err = scan(q.QueryRow(query, args...))
	if errors.Is(err, sql.ErrNoRows) {
		return *new(T), false, nil
	}
	return row, err == nil, err
}

// All runs a query and returns all its rows. The function `scan` reads each row.
func All[T any](q Querier, scan func(Scanner) (T, error), query string, args ...any) ([]T, error) {
	var out []T
	err := Each(q, func(row Scanner) error {
		one, err := scan(row)
		out = append(out, one)
		return err
	}, query, args...)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Scalar reads a row of one column. It is a scan function for [All].
func Scalar[T any](row Scanner) (value T, err error) {
	err = row.Scan(&value)
	return value, err
}

// Each runs a query and calls `do` for every row. It stops at the first error of `do` and returns this error.
func Each(q Querier, do func(Scanner) error, query string, args ...any) error {
	return q.each(do, query, args)
}

// Tx is one change in progress. Only the goroutine of the function that received the Tx may use it, until that
// function returns.
type Tx struct {
	ctx     context.Context //nolint:containedctx // lives as long as the change; not cancelled separately
	session session
	db      *DB
	failed  error // error of the first statement that failed
	broken  error // error of the first statement that failed because the store is unavailable
	after   []func()
	*unit
	origin context.Context //nolint:containedctx // of the caller of Update
}

// CallerContext returns the context that was passed to Update, with Update's span. Use the context's values only:
// its cancellation has no effect on a change that has started.
func (tx *Tx) CallerContext() context.Context { return tx.origin }

// OnCommit registers a function that Update calls once the change is durable, before Update returns. The
// function runs on the goroutine of Update's caller. It does not run if the change fails. Use it for notices
// only: a receiver that misses the notice must still find the change.
func (tx *Tx) OnCommit(then func()) { tx.after = append(tx.after, then) }

// Name returns the engine's name, as [DB.Name] does. It is for the few PostgreSQL statements that SQLite lacks,
// such as FOR UPDATE SKIP LOCKED.
func (tx *Tx) Name() string { return tx.db.Name() }

// OtherConnections returns how many other connections to this database belong to a vayu process, on any host. A running
// service always has a connection. On SQLite the result is always 0, although commands may use the store concurrently.
func (tx *Tx) OtherConnections() (n int64, err error) {
	if tx.Name() != "postgres" {
		return 0, nil
	}
	if err = tx.QueryRow(`SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database()
		AND application_name = current_setting('application_name') AND pid <> pg_backend_pid()`).Scan(&n); err != nil {
		err = fmt.Errorf("counting who else uses the store: %w", err)
	}
	return n, err
}

// Digest makes a keyed digest, as [DB.Digest] does.
func (tx *Tx) Digest(purpose string, data ...[]byte) []byte { return tx.db.Digest(purpose, data...) }

// session runs the statements of a transaction. It is a connection, with or without prepared statements.
type session interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Exec runs a statement and returns the number of rows that it changed.
func (tx *Tx) Exec(query string, args ...any) (int64, error) {
	if err := tx.flush(); err != nil {
		return 0, err
	}
	result, err := tx.session.ExecContext(tx.ctx, query, args...)
	if err != nil {
		return 0, tx.note(err)
	}
	return result.RowsAffected()
}

// QueryRow returns a query of one row without running it. [Row.Scan] runs the query.
func (tx *Tx) QueryRow(query string, args ...any) Row { return Row{tx, query, args} }

func (tx *Tx) scan(query string, args, dest []any) error {
	if err := tx.flush(); err != nil {
		return err
	}
	return tx.note(tx.session.QueryRowContext(tx.ctx, query, args...).Scan(dest...))
}

func (tx *Tx) each(do func(Scanner) error, query string, args []any) error {
	if err := tx.flush(); err != nil {
		return err
	}
	_, err, fault := each(tx.ctx, tx.session, do, query, args)
	if fault != nil {
		return tx.note(fault)
	}
	return err
}

// note returns a statement's error, and records the error unless it is sql.ErrNoRows. After a recorded error the
// change fails, even if the change's function ignores the error.
func (tx *Tx) note(err error) error {
	if err == nil || errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if tx.failed == nil {
		tx.failed = err
	}
	if tx.broken == nil && tx.db.engine.fault(err) != faultStatement {
		tx.broken = err
	}
	return err
}

// result returns the error of a change whose function returned err. The error of an unavailable store takes precedence
// over err, because the reply to the client depends on it.
func (tx *Tx) result(err error) error {
	switch {
	case tx.broken != nil:
		return tx.broken
	case err != nil:
		return err
	}
	return tx.failed
}

// each runs a query and calls `do` for each row, until `do` returns an error. The result n is the number of calls. The
// result err is the error of `do`, and the result `fault` is the error of the query.
func each(ctx context.Context, on session, do func(Scanner) error, query string, args []any) (n int, err, fault error) {
	rows, err := on.QueryContext(ctx, query, args...)
	if err != nil {
		return 0, nil, err
	}
	if kept, ok := on.(*connection.Prepared); ok {
		defer kept.Begin(query)()
	}
	defer func() { _ = rows.Close() }() // rows.Err returns its error
	for rows.Next() {
		n++
		if err := do(rows); err != nil {
			return n, err, nil
		}
	}
	return n, nil, rows.Err()
}

// View runs queries on committed data, not inside a change.
type View struct {
	ctx context.Context //nolint:containedctx // a View is made for one request
	db  *DB
}

// View returns a View for ctx. Each query, including the reading of its rows, may take at most half a second longer
// than Settings.StatementTimeout, and ends with ctx. Split queries that may take longer.
func (db *DB) View(ctx context.Context) View { return View{ctx, db} }

// Snapshot begins a transaction that reads one state of all tables, while writers continue. The caller rolls it back.
func (db *DB) Snapshot(ctx context.Context) (*sql.Tx, error) {
	options := &sql.TxOptions{ReadOnly: true}
	if db.Name() == "postgres" {
		options.Isolation = sql.LevelRepeatableRead
	}
	tx, err := db.engine.reader().BeginTx(ctx, options)
	if err != nil {
		return nil, View{ctx, db}.classify(err)
	}
	if db.Name() == "postgres" { // a large table takes longer than the timeout of a request
		if _, err := tx.ExecContext(ctx, "SET LOCAL statement_timeout = 0"); err != nil {
			_ = tx.Rollback()
			return nil, View{ctx, db}.classify(err)
		}
	}
	return tx, nil
}

// QueryRow returns a query of one row without running it. [Row.Scan] runs the query.
func (v View) QueryRow(query string, args ...any) Row { return Row{v, query, args} }

func (v View) scan(query string, args, dest []any) error {
	limit, cancel := context.WithTimeout(v.ctx, v.db.answerTimeout)
	defer cancel()
	var err error
	for range readTries {
		err = v.db.engine.reader().QueryRowContext(limit, query, args...).Scan(dest...)
		if err == nil || v.db.engine.fault(err) != faultConnection {
			break
		}
	}
	return v.classify(err)
}

// readTries is how often a query is tried if its connection breaks before the first row is read.
const readTries = 2

func (v View) each(do func(Scanner) error, query string, args []any) error {
	limit, cancel := context.WithTimeout(v.ctx, v.db.answerTimeout)
	defer cancel()
	var fault error
	for range readTries {
		var n int
		var err error
		n, err, fault = each(limit, v.db.engine.reader(), do, query, args)
		if fault == nil {
			return err
		}
		if n > 0 || v.db.engine.fault(fault) != faultConnection {
			break
		}
	}
	return v.classify(fault)
}

// classify calls [DB.classify]. If the store has ended, it first wraps an error other than sql.ErrNoRows in errEnded.
func (v View) classify(err error) error {
	if err != nil && !errors.Is(err, sql.ErrNoRows) && v.db.hasEnded() {
		err = fmt.Errorf("%w: %w", errEnded, err)
	}
	return v.db.classify(err)
}

// fault classifies what failed: a statement, the store or a connection.
type fault int

const (
	faultStatement  fault = iota // the statement failed; the store works
	faultStore                   // the store is unavailable at the moment
	faultConnection              // as faultStore, but a new connection may work
)

// classify turns the error of an unavailable or ended store into a *schema.Problem. It returns other errors unchanged.
func (db *DB) classify(err error) error {
	var problem *schema.Problem
	if err == nil || errors.Is(err, sql.ErrNoRows) || errors.As(err, &problem) {
		return err
	}
	message := "This cannot be done at the moment; nothing was changed. Please try again."
	switch {
	case errors.Is(err, errUnknown):
		message = "The connection broke before it was known whether this was done. Please check whether it was, or repeat it with the same key or ref_id."
	case db.engine.fault(err) == faultStatement && !errors.Is(err, errEnded):
		return err
	}
	db.metrics.faults.Inc()
	return schema.Unavailable(message, fmt.Errorf("state store: %w", err))
}

var (
	// errEnded is the error of a call to the store while the service is stopping.
	errEnded = errors.New("the state store is closing")
	// errUnknown means that a server disconnected after it may have received COMMIT, and before it answered.
	errUnknown = errors.New("it is not known whether the change was committed")
)

// Micros converts a time to the store's format: microseconds since 1970 UTC, NULL for the zero time.
func Micros(at time.Time) any {
	if at.IsZero() {
		return nil
	}
	return at.UnixMicro()
}

// FromMicros converts a time from the store's format. It returns the zero time for NULL.
func FromMicros(micros sql.NullInt64) time.Time {
	if !micros.Valid {
		return time.Time{}
	}
	return time.UnixMicro(micros.Int64).UTC()
}

// TruncateMicros converts a time to UTC and truncates it to the store's precision, a microsecond.
func TruncateMicros(at time.Time) time.Time { return at.UTC().Truncate(time.Microsecond) }

// BoolToInt converts a bool to the store's format: 0 or 1.
func BoolToInt(is bool) int64 {
	if is {
		return 1
	}
	return 0
}
