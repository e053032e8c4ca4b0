package state

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
)

// postgres is the store on a server.
type postgres struct {
	db   *DB
	pool *sql.DB
}

const (
	// startPatience is how long a server may take to come up beside the service.
	startPatience = time.Minute
	startPause    = time.Second
	// statementTimeout is the server's own end of a statement, in milliseconds: a
	// client waits for 10 s at most, and a lock behind it no longer.
	statementTimeout = "10000"
	// conflictTries is how often a change that lost against another is tried; the
	// winner has then committed, so a second loss in a row is rare already.
	conflictTries = 5
)

func (p *postgres) open(ctx context.Context) error {
	cfg, err := pgx.ParseConfig(string(p.db.cfg.DSN))
	if err != nil {
		return errors.New("state: the DSN cannot be read; it is postgres://user:password@host:5432/name?sslmode=verify-full") // pgx's text may hold the password
	}
	if cfg.RuntimeParams["application_name"] == "" {
		cfg.RuntimeParams["application_name"] = "vayu"
	}
	if cfg.RuntimeParams["statement_timeout"] == "" {
		cfg.RuntimeParams["statement_timeout"] = statementTimeout
	}
	p.pool = stdlib.OpenDB(*cfg)
	p.pool.SetMaxOpenConns(p.db.cfg.Connections)
	p.pool.SetMaxIdleConns(p.db.cfg.Connections)
	p.pool.SetConnMaxIdleTime(5 * time.Minute)
	if err := p.await(ctx); err != nil {
		_ = p.pool.Close()
		return err
	}
	if err := migrate(ctx, goose.DialectPostgres, p.pool); err != nil {
		_ = p.pool.Close()
		return err
	}
	return nil
}

// await waits until the server answers.
func (p *postgres) await(ctx context.Context) error {
	limit, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	for {
		err := p.pool.PingContext(limit)
		if err == nil {
			return nil
		}
		var stated *pgconn.PgError
		if errors.As(err, &stated) && !p.fault(err) { // such as a wrong password
			return err
		}
		p.db.log.Warn("waiting for PostgreSQL", "state", p.db.cfg.DSN.String(), "error", err)
		select {
		case <-time.After(startPause):
		case <-limit.Done():
			return fmt.Errorf("PostgreSQL did not answer within %s: %w", startPatience, err)
		}
	}
}

func (p *postgres) run(ctx context.Context) error {
	<-ctx.Done()
	return p.pool.Close()
}

func (p *postgres) reader() *sql.DB { return p.pool }

func (p *postgres) update(ctx context.Context, do func(*Tx) error) error {
	for try := 1; ; try++ {
		err := p.once(ctx, do)
		if err == nil || try == conflictTries || !conflict(err) {
			return err
		}
		p.db.metrics.conflicts.Inc()
		pause := time.Duration(try) * time.Duration(1+rand.Int64N(int64(5*time.Millisecond))) //nolint:gosec // spreads retries
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// once runs a change in one transaction. Only waiting for a connection ends
// with ctx.
func (p *postgres) once(ctx context.Context, do func(*Tx) error) error {
	conn, err := p.pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	whole := context.WithoutCancel(ctx)
	tx, err := conn.BeginTx(whole, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // without effect after a commit
	if err := do(&Tx{whole, tx, p.db}); err != nil {
		return err
	}
	err = tx.Commit()
	p.db.metrics.commits.Inc()
	return err
}

// conflict reports a transaction that the server gave up in favour of another:
// serialization_failure and deadlock_detected.
func conflict(err error) bool {
	var stated *pgconn.PgError
	return errors.As(err, &stated) && (stated.Code == "40001" || stated.Code == "40P01")
}

// postgresFaults are the classes of SQLSTATE that say that the server cannot
// work now: connection exception, insufficient resources, operator
// intervention (which a statement time-out belongs to), system error.
var postgresFaults = map[string]bool{"08": true, "53": true, "57": true, "58": true}

func (p *postgres) fault(err error) bool {
	var stated *pgconn.PgError
	if errors.As(err, &stated) {
		return len(stated.Code) == 5 && postgresFaults[stated.Code[:2]] ||
			stated.Code == "25006" || stated.Code == "55P03" // read-only after a fail-over; lock not available
	}
	var connecting *pgconn.ConnectError
	return errors.As(err, &connecting) || errors.Is(err, sql.ErrConnDone) || errors.Is(err, context.DeadlineExceeded) || broken(err)
}
