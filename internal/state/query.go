package state

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
	query(query string, args []any) (*sql.Rows, error)
	classify(err error) error
}

// Scanner is a row that can be read into variables.
type Scanner interface {
	Scan(dest ...any) error
}

// Row is the only row of an answer.
type Row struct {
	row *sql.Row
	of  interface{ classify(err error) error }
}

// Scan reads the row; sql.ErrNoRows when there is none.
func (r Row) Scan(dest ...any) error { return r.of.classify(r.row.Scan(dest...)) }

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
	rows, err := q.query(query, args)
	if err != nil {
		return q.classify(err)
	}
	defer func() { _ = rows.Close() }() // its error is that of Err
	for rows.Next() {
		if err := do(rows); err != nil {
			return err
		}
	}
	return q.classify(rows.Err())
}

// Tx is one change on its way, for the goroutine that got it and only until the
// function that got it returns.
type Tx struct {
	ctx     context.Context //nolint:containedctx // lives as long as the change, and has no end of its own
	session session
	db      *DB
}

// session is a *sql.Conn or *sql.Tx.
type session interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Exec runs a statement and returns how many rows it changed.
func (tx *Tx) Exec(query string, args ...any) (int64, error) {
	result, err := tx.session.ExecContext(tx.ctx, query, args...)
	if err != nil {
		return 0, tx.classify(err)
	}
	return result.RowsAffected()
}

// QueryRow asks for one row.
func (tx *Tx) QueryRow(query string, args ...any) Row {
	return Row{tx.session.QueryRowContext(tx.ctx, query, args...), tx}
}

func (tx *Tx) query(query string, args []any) (*sql.Rows, error) {
	return tx.session.QueryContext(tx.ctx, query, args...) //nolint:sqlclosecheck // Each closes it
}

func (tx *Tx) classify(err error) error { return tx.db.classify(err) }

// View reads what is committed.
type View struct {
	ctx context.Context //nolint:containedctx // a View is made for one request
	db  *DB
}

// View returns a reader whose queries end with ctx.
func (db *DB) View(ctx context.Context) View { return View{ctx, db} }

// QueryRow asks for one row.
func (v View) QueryRow(query string, args ...any) Row {
	return Row{v.db.engine.reader().QueryRowContext(v.ctx, query, args...), v}
}

func (v View) query(query string, args []any) (*sql.Rows, error) {
	return v.db.engine.reader().QueryContext(v.ctx, query, args...) //nolint:sqlclosecheck // Each closes it
}

func (v View) classify(err error) error { return v.db.classify(err) }

// classify turns an error of a store that cannot work at the moment into the
// client's answer, and leaves every other as it is.
func (db *DB) classify(err error) error {
	var said *schema.Problem
	if err == nil || errors.Is(err, sql.ErrNoRows) || errors.As(err, &said) || !db.engine.fault(err) {
		return err
	}
	db.metrics.faults.Inc()
	return schema.Unavailable("This cannot be done at the moment; nothing was changed. Please try again.",
		fmt.Errorf("state store: %w", err))
}
