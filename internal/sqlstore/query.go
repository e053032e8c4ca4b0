package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"vayu/schema"
)

// Querier runs queries: a [Tx], or a [View]. Placeholders are $1, $2, …
type Querier interface {
	QueryRow(query string, args ...any) Row
	scan(query string, args, dest []any) error
	each(do func(Scanner) error, query string, args []any) error
}

// Scanner is a row that can be read into variables.
type Scanner interface {
	Scan(dest ...any) error
}

// Row is the only row of an answer. The question is asked by Scan.
type Row struct {
	of    Querier
	query string
	args  []any
}

// Scan reads the row; sql.ErrNoRows when there is none.
func (r Row) Scan(dest ...any) error { return r.of.scan(r.query, r.args, dest) }

// All returns every row of an answer, each read by scan.
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

// Each calls do for every row of an answer, and stops at its first error.
func Each(q Querier, do func(Scanner) error, query string, args ...any) error {
	return q.each(do, query, args)
}

// Tx is one change on its way, for the goroutine that got it and only until the
// function that got it returns.
type Tx struct {
	ctx     context.Context //nolint:containedctx // lives as long as the change, and has no end of its own
	session session
	db      *DB
	failed  error // of the first statement that failed
	broken  error // of the first that failed because the store cannot work
	after   []func()
	origin  context.Context //nolint:containedctx // of whoever asked for the change
}

// Origin is the context of whoever asked for the change, for the values in it: its end
// does not matter any more.
func (tx *Tx) Origin() context.Context { return tx.origin }

// After has then called once the change is durable, by the goroutine that called
// Update, before Update returns; never when the change fails. It is for telling
// others to look: who was not told must find what was changed all the same.
func (tx *Tx) After(then func()) { tx.after = append(tx.after, then) }

// Name is that of the store, [DB.Name]: for the few statements that PostgreSQL
// needs and SQLite does not know, such as FOR UPDATE SKIP LOCKED.
func (tx *Tx) Name() string { return tx.db.Name() }

// Digest is that of the store, [DB.Digest].
func (tx *Tx) Digest(purpose string, data ...[]byte) []byte { return tx.db.Digest(purpose, data...) }

// session is where statements run: a connection, or one with its prepared
// statements.
type session interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Exec runs a statement and returns how many rows it changed.
func (tx *Tx) Exec(query string, args ...any) (int64, error) {
	result, err := tx.session.ExecContext(tx.ctx, query, args...)
	if err != nil {
		return 0, tx.note(err)
	}
	return result.RowsAffected()
}

// QueryRow asks for one row.
func (tx *Tx) QueryRow(query string, args ...any) Row { return Row{tx, query, args} }

func (tx *Tx) scan(query string, args, dest []any) error {
	return tx.note(tx.session.QueryRowContext(tx.ctx, query, args...).Scan(dest...))
}

func (tx *Tx) each(do func(Scanner) error, query string, args []any) error {
	_, err, fault := each(tx.ctx, tx.session, do, query, args)
	if fault != nil {
		return tx.note(fault)
	}
	return err
}

// note remembers that a statement failed: then the change has failed, whatever
// its function makes of the error.
func (tx *Tx) note(err error) error {
	if err == nil || errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if tx.failed == nil {
		tx.failed = err
	}
	if tx.broken == nil && tx.db.engine.fault(err) != sound {
		tx.broken = err
	}
	return err
}

// verdict is the error of a change whose function returned err. That of the
// store comes first: it decides what the caller is told.
func (tx *Tx) verdict(err error) error {
	switch {
	case tx.broken != nil:
		return tx.broken
	case err != nil:
		return err
	}
	return tx.failed
}

// each runs do over the rows, and says how many there were, the error of do,
// and that of the store.
func each(ctx context.Context, on session, do func(Scanner) error, query string, args []any) (n int, err, fault error) {
	rows, err := on.QueryContext(ctx, query, args...)
	if err != nil {
		return 0, nil, err
	}
	if kept, ok := on.(*statements); ok {
		defer kept.begin(query)()
	}
	defer func() { _ = rows.Close() }() // its error is that of Err
	for rows.Next() {
		n++
		if err := do(rows); err != nil {
			return n, err, nil
		}
	}
	return n, nil, rows.Err()
}

// View reads what is committed.
type View struct {
	ctx context.Context //nolint:containedctx // a View is made for one request
	db  *DB
}

// View returns a reader whose queries end with ctx, and half a second after
// Settings.StatementTimeout in any case: each with the reading of all its rows. What may take longer asks
// for less at a time.
func (db *DB) View(ctx context.Context) View { return View{ctx, db} }

// QueryRow asks for one row.
func (v View) QueryRow(query string, args ...any) Row { return Row{v, query, args} }

func (v View) scan(query string, args, dest []any) error {
	limit, cancel := context.WithTimeout(v.ctx, v.db.answer)
	defer cancel()
	var err error
	for range readTries {
		err = v.db.engine.reader().QueryRowContext(limit, query, args...).Scan(dest...)
		if err == nil || v.db.engine.fault(err) != lost {
			break
		}
	}
	return v.classify(err)
}

// readTries is how often a question is asked whose connection breaks: it has
// changed nothing, and the next connection is a new one.
const readTries = 2

func (v View) each(do func(Scanner) error, query string, args []any) error {
	limit, cancel := context.WithTimeout(v.ctx, v.db.answer)
	defer cancel()
	var fault error
	for range readTries {
		var n int
		var err error
		n, err, fault = each(limit, v.db.engine.reader(), do, query, args)
		if fault == nil {
			return err
		}
		if n > 0 || v.db.engine.fault(fault) != lost {
			break
		}
	}
	return v.classify(fault)
}

// classify makes every error of a store that has ended one of a store that
// cannot work.
func (v View) classify(err error) error {
	if err != nil && !errors.Is(err, sql.ErrNoRows) && v.db.hasEnded() {
		err = fmt.Errorf("%w: %w", errEnded, err)
	}
	return v.db.classify(err)
}

// Kinds of errors of a store.
type fault int

const (
	sound  fault = iota // the statement's own fault: the store works
	unable              // the store cannot work at the moment
	lost                // the same, and the connection is gone: the next one may work
)

// classify turns an error of a store that cannot work at the moment into the
// client's answer, and leaves every other as it is.
func (db *DB) classify(err error) error {
	var said *schema.Problem
	if err == nil || errors.Is(err, sql.ErrNoRows) || errors.As(err, &said) {
		return err
	}
	message := "This cannot be done at the moment; nothing was changed. Please try again."
	switch {
	case errors.Is(err, errUnknown):
		message = "The connection broke before it was known whether this was done. Please look whether it was, or repeat it with the same key or ref_id."
	case db.engine.fault(err) == sound && !errors.Is(err, errEnded):
		return err
	}
	db.metrics.faults.Inc()
	return schema.Unavailable(message, fmt.Errorf("state store: %w", err))
}

var (
	// errEnded is what callers get while the service stops.
	errEnded = errors.New("the state store is closing")
	// errUnknown says that a server went away between being told to commit and
	// saying that it had, and that neither it nor another came in time to be asked.
	errUnknown = errors.New("it is not known whether the change was committed")
)
