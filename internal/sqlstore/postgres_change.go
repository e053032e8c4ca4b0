package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

const (
	// conflictTries is how often a change that lost against another is tried; the
	// winner has then committed, so a second loss in a row is rare already.
	conflictTries = 8
	// conflictPause is the longest pause before the second try; it grows with the tries.
	conflictPause = 10 * time.Millisecond
)

func (p *postgres) update(ctx context.Context, do func(*Tx) error) error {
	if ofSandbox(ctx) {
		leave, err := p.enterSandbox(ctx)
		if err != nil {
			return err
		}
		defer leave()
	}
	for try := 1; ; try++ {
		err := p.once(ctx, do)
		if err == nil || try == conflictTries || !conflict(err) {
			return err
		}
		p.db.metrics.conflicts.Inc()
		select {
		case <-time.After(time.Duration(try) * time.Duration(rand.Int64N(int64(conflictPause)))):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// enterSandbox waits until a change of the sandbox may have a connection, as long as
// [postgres.connection] would wait for one.
func (p *postgres) enterSandbox(ctx context.Context) (leave func(), err error) {
	limit, cancel := context.WithTimeout(ctx, p.db.answer)
	defer cancel()
	select {
	case p.sandbox <- struct{}{}:
		return func() { <-p.sandbox }, nil
	case <-limit.Done():
		return nil, limit.Err()
	case <-p.db.ended:
		return nil, errEnded
	}
}

// once runs a change in one transaction. Only waiting for a connection ends
// with ctx.
func (p *postgres) once(ctx context.Context, do func(*Tx) error) error {
	whole, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.db.patience)
	defer cancel()
	conn, err := p.begin(ctx, whole)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	open := true
	defer func() { // also when do panics
		if open {
			rollback(whole, conn)
		}
	}()
	tx := &Tx{ctx: whole, session: conn, db: p.db}
	if err := tx.verdict(do(tx)); err != nil {
		return err
	}
	id, tag, err := p.commit(whole, conn)
	switch {
	case err == nil && tag.String() != "COMMIT":
		open = false
		return fmt.Errorf("the server answered %s to COMMIT", tag)
	case err == nil:
		open = false
	case refused(err):
		return err
	case p.fault(err) != sound:
		open = false
		discard(conn) // the question needs a place in the pool
		if err := p.outcome(ctx, id, err); err != nil {
			return err
		}
	default:
		return err
	}
	p.db.metrics.commits.Inc()
	return nil
}

// refused says that the server itself has answered COMMIT with an error, such as a full
// disk: it has undone the change, and the connection is good.
func refused(err error) bool {
	stated, ok := errors.AsType[*pgconn.PgError](err)
	return ok && stated.SeverityUnlocalized == "ERROR"
}

// begin starts a transaction. A connection that broke while nobody used it is no
// reason to fail: nothing has been done yet. One whose server may only be read is
// left, so that the next change looks for the primary.
func (p *postgres) begin(ctx, whole context.Context) (*sql.Conn, error) {
	for try := 0; ; try++ {
		conn, err := p.connection(ctx)
		if err != nil {
			if p.db.hasEnded() {
				err = errEnded
			}
			return nil, err
		}
		limit, cancel := context.WithTimeout(whole, p.db.answer)
		results, err := simpleAll(limit, conn, "BEGIN; SHOW transaction_read_only")
		cancel()
		if err == nil && string(results[1].Rows[0][0]) == "on" {
			err = errReadOnly
		}
		if err == nil {
			return conn, nil
		}
		discard(conn)
		if p.fault(err) != lost || try >= p.db.cfg.Settings.Connections {
			return nil, err
		}
	}
}

// errReadOnly is what a standby says of the first statement that changes something.
var errReadOnly = &pgconn.PgError{Severity: "ERROR", SeverityUnlocalized: "ERROR", Code: "25006", Message: "the server may only be read at the moment"}

// connection waits for one that is free, or for a new one.
func (p *postgres) connection(ctx context.Context) (*sql.Conn, error) {
	limit, cancel := context.WithTimeout(ctx, p.db.answer)
	defer cancel() // what is connected by then stays so
	return p.pool.Conn(limit)
}

// rollback ends a transaction; a connection that cannot is given up, and the
// server ends it.
func rollback(ctx context.Context, conn *sql.Conn) {
	if _, err := simple(ctx, conn, "ROLLBACK"); err != nil {
		discard(conn)
	}
}

// simple runs a statement without parameters and returns the server's words.
func simple(ctx context.Context, conn *sql.Conn, statement string) (pgconn.CommandTag, error) {
	results, err := simpleAll(ctx, conn, statement)
	if err != nil {
		return pgconn.CommandTag{}, err
	}
	return results[len(results)-1].CommandTag, nil
}

// simpleAll runs statements in one round trip.
func simpleAll(ctx context.Context, conn *sql.Conn, statements string) (results []*pgconn.Result, err error) {
	failed := conn.Raw(func(driver any) error {
		results, err = driver.(*stdlib.Conn).Conn().PgConn().Exec(ctx, statements).ReadAll()
		return nil
	})
	if err == nil {
		err = failed
	}
	return results, err
}
