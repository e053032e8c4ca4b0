package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"time"

	"vayu/internal/sqlstore/connection"
	"vayu/internal/sqlstore/server"
	"vayu/schema"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// maxConflictAttempts limits the attempts of a change that conflicts with other changes. Two conflicts in a row are
	// already rare, because the other change has usually ended before the retry.
	maxConflictAttempts = 8
	// conflictPause is the upper limit of the random pause before the second attempt. The limit grows with each
	// attempt.
	conflictPause = 10 * time.Millisecond
)

// alone makes one change in a transaction of its own. If conflicts occur, it makes up to maxConflictAttempts attempts.
func (p *postgres) alone(ctx context.Context, do func(*Tx) error) error {
	for try := 1; ; try++ {
		err := p.runOnce(ctx, nil, do)
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
// than [postgres.connection] does. The returned function `leave` frees the slot.
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

// runOnce runs the function `do` in one transaction, without retries. ctx limits only the waits for a slot of the
// sandbox and a connection. [Tx.Expect] collects statements in `queue`, or runs each one at once if `queue` is nil.
func (p *postgres) runOnce(ctx context.Context, queue *pgx.Batch, do func(*Tx) error) error {
	if WorldOf(ctx) != schema.Live {
		leave, err := p.enterSandbox(ctx)
		if err != nil {
			return err
		}
		defer leave()
	}
	whole, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.db.changeTimeout)
	defer cancel()
	conn, err := p.begin(ctx, whole)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	open := true
	defer func() { // also when `do` panics
		if open {
			rollback(whole, conn)
		}
	}()
	tx := &Tx{ctx: whole, session: conn, db: p.db, unit: &unit{queue: queue}}
	if err := tx.run(do); err != nil {
		return err
	}
	results, err := server.Exec(whole, conn, "COMMIT")
	switch {
	case err == nil && results[0].CommandTag.String() != "COMMIT":
		open = false
		return fmt.Errorf("the server answered %s to COMMIT", results[0].CommandTag)
	case err == nil:
		open = false
		p.db.metrics.commits.Inc()
		p.commits.Add(1)
		return nil
	case server.Rejected(err) || p.fault(err) == faultStatement:
		return err
	}
	open = false
	connection.Discard(conn)
	return fmt.Errorf("%w: %w", errUnknown, err)
}

// begin starts a transaction. If an idle connection has broken, begin tries another one, because nothing has been
// changed yet. If the server is read-only, begin closes the connection, so that the next change can reach the primary.
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
		results, err := server.Exec(limit, conn, "BEGIN; SHOW transaction_read_only")
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

// errReadOnly is the error that a PostgreSQL standby would return for the first statement that writes.
var errReadOnly = &pgconn.PgError{Severity: "ERROR", SeverityUnlocalized: "ERROR", Code: "25006", Message: "the server may only be read at the moment"}

// connection waits for a free connection, or opens a new one.
func (p *postgres) connection(ctx context.Context) (*sql.Conn, error) {
	limit, cancel := context.WithTimeout(ctx, p.db.answerTimeout)
	defer cancel() // does not affect an established connection
	return p.pool.Conn(limit)
}

// rollback ends a transaction. If ROLLBACK fails, rollback closes the connection, and the server rolls back.
func rollback(ctx context.Context, conn *sql.Conn) {
	if _, err := server.Exec(ctx, conn, "ROLLBACK"); err != nil {
		connection.Discard(conn)
	}
}
