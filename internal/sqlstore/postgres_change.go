package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"vayu/internal/sqlstore/connection"
	"vayu/internal/sqlstore/server"
	"vayu/schema"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

const (
	// maxConflictAttempts limits the attempts of a change that conflicts with other changes. Before the retry, the
	// other change has usually ended, so two conflicts in a row are already rare.
	maxConflictAttempts = 8
	// conflictPause is the upper limit of the random pause before the second attempt. The limit grows with each
	// attempt.
	conflictPause = 10 * time.Millisecond
)

func (p *postgres) update(ctx context.Context, do func(*Tx) error) error {
	if WorldOf(ctx) != schema.Live {
		leave, err := p.enterSandbox(ctx)
		if err != nil {
			return err
		}
		defer leave()
	}
	for try := 1; ; try++ {
		err := p.runOnce(ctx, do)
		if err == nil || try == maxConflictAttempts || !server.Conflict(err) {
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

// enterSandbox waits for one of the slots that limit the concurrent changes of the sandbox. It waits no longer
// than [postgres.connection] does. The function leave frees the slot.
func (p *postgres) enterSandbox(ctx context.Context) (leave func(), err error) {
	limit, cancel := context.WithTimeout(ctx, p.db.answerTimeout)
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

// runOnce runs a change in one transaction. ctx limits only the wait for a connection.
func (p *postgres) runOnce(ctx context.Context, do func(*Tx) error) error {
	whole, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.db.changeTimeout)
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
	if err := tx.result(do(tx)); err != nil {
		return err
	}
	tag, err := simple(whole, conn, "COMMIT")
	switch {
	case err == nil && tag.String() != "COMMIT":
		open = false
		return fmt.Errorf("the server answered %s to COMMIT", tag)
	case err == nil:
		open = false
		p.db.metrics.commits.Inc()
		return nil
	case commitRejected(err) || p.fault(err) == faultStatement:
		return err
	}
	open = false
	connection.Discard(conn)
	return fmt.Errorf("%w: %w", errUnknown, err)
}

// commitRejected reports whether the server answered COMMIT with an error, such as a full disk. After such an
// answer, the change is rolled back, and the connection still works.
func commitRejected(err error) bool {
	stated, ok := errors.AsType[*pgconn.PgError](err)
	return ok && stated.SeverityUnlocalized == "ERROR"
}

// begin starts a transaction. If an idle connection has broken, begin tries another, because nothing has been
// changed yet. It closes a connection to a read-only server, so that the next change connects to the primary.
func (p *postgres) begin(ctx, whole context.Context) (*sql.Conn, error) {
	for try := 0; ; try++ {
		conn, err := p.connection(ctx)
		if err != nil {
			if p.db.hasEnded() {
				err = errEnded
			}
			return nil, err
		}
		limit, cancel := context.WithTimeout(whole, p.db.answerTimeout)
		results, err := simpleAll(limit, conn, "BEGIN; SHOW transaction_read_only")
		cancel()
		if err == nil && string(results[1].Rows[0][0]) == "on" {
			err = errReadOnly
		}
		if err == nil {
			return conn, nil
		}
		connection.Discard(conn)
		if p.fault(err) != faultConnection || try >= p.db.cfg.Settings.Connections {
			return nil, err
		}
	}
}

// errReadOnly is the error that a standby would return for the first statement that writes.
var errReadOnly = &pgconn.PgError{Severity: "ERROR", SeverityUnlocalized: "ERROR", Code: "25006", Message: "the server may only be read at the moment"}

// connection waits for a free connection, or opens a new one.
func (p *postgres) connection(ctx context.Context) (*sql.Conn, error) {
	limit, cancel := context.WithTimeout(ctx, p.db.answerTimeout)
	defer cancel() // does not affect an established connection
	return p.pool.Conn(limit)
}

// rollback ends a transaction. If ROLLBACK fails, rollback closes the connection, and the server rolls back.
func rollback(ctx context.Context, conn *sql.Conn) {
	if _, err := simple(ctx, conn, "ROLLBACK"); err != nil {
		connection.Discard(conn)
	}
}

// simple runs statements without parameters and returns the command tag of the last one, such as "COMMIT".
func simple(ctx context.Context, conn *sql.Conn, statement string) (pgconn.CommandTag, error) {
	results, err := simpleAll(ctx, conn, statement)
	if err != nil {
		return pgconn.CommandTag{}, err
	}
	return results[len(results)-1].CommandTag, nil
}

// simpleAll runs statements, separated by semicolons, in one round trip. It returns the result of each.
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
