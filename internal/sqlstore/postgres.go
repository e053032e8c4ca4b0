package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
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
	// sandbox has a place for each change of the sandbox that may be made at a time.
	sandbox chan struct{}
}

const (
	// startPatience is how long a server may take to come up beside the service.
	startPatience = time.Minute
	// commandPatience is how long a person waits for a command.
	commandPatience = 10 * time.Second
	startPause      = time.Second
	// mostOfAHost is how long one of several hosts is waited for.
	mostOfAHost = 3 * time.Second
	// sandboxShare is the part of the connections that changes of the sandbox may use
	// at a time: one in four, and one in any case.
	sandboxShare = 4
)

func (p *postgres) open(ctx context.Context) error {
	cfg, err := p.settings()
	if err != nil {
		return err
	}
	if err := p.migrate(ctx, cfg.Copy()); err != nil {
		return err
	}
	chosen := p.db.cfg.Settings
	preset(cfg, "statement_timeout", milliseconds(chosen.StatementTimeout))
	if chosen.LockTimeout > 0 { // migrations may wait
		preset(cfg, "lock_timeout", milliseconds(chosen.LockTimeout))
	}
	p.pool = stdlib.OpenDB(*cfg)
	p.pool.SetMaxOpenConns(p.db.cfg.Settings.Connections)
	p.pool.SetMaxIdleConns(p.db.cfg.Settings.Connections)
	p.pool.SetConnMaxIdleTime(5 * time.Minute)
	p.sandbox = make(chan struct{}, max(1, p.db.cfg.Settings.Connections/sandboxShare))
	return nil
}

// settings are those of a connection whose statements may take their time.
func (p *postgres) settings() (*pgx.ConnConfig, error) {
	cfg, err := pgx.ParseConfig(string(p.db.cfg.DSN))
	if err != nil {
		return nil, errors.New("state: the DSN cannot be read; it is postgres://user:password@host:5432/name?sslmode=verify-full") // pgx's text may hold the password
	}
	preset(cfg, "application_name", "vayu")
	preset(cfg, "idle_in_transaction_session_timeout", milliseconds(p.db.cfg.Settings.IdleTimeout))
	if cfg.ConnectTimeout == 0 { // the pool's own attempts have no other end
		cfg.ConnectTimeout = connectTimeout(p.db.answer, 1+len(cfg.Fallbacks))
	}
	return cfg, nil
}

// connectTimeout is how long one host may take to let a connection in. The only one has
// all the time that its caller waits; of more, one that swallows everything must leave
// the next ones enough of it.
func connectTimeout(answer time.Duration, hosts int) time.Duration {
	if hosts == 1 {
		return answer
	}
	return min(answer/time.Duration(hosts+1), mostOfAHost)
}

// preset sets a parameter of the session that the DSN leaves open.
func preset(cfg *pgx.ConnConfig, name, value string) {
	if cfg.RuntimeParams[name] == "" {
		cfg.RuntimeParams[name] = value
	}
}

// migrate waits for the server and brings the tables up to date, with
// statements that may take their time.
func (p *postgres) migrate(ctx context.Context, cfg *pgx.ConnConfig) error {
	pool := stdlib.OpenDB(*cfg)
	defer pool.Close()
	if err := p.await(ctx, pool); err != nil {
		return err
	}
	return migrate(ctx, goose.DialectPostgres, pool, p.db.version)
}

// await waits until the server answers.
func (p *postgres) await(ctx context.Context, pool *sql.DB) error {
	patience := startPatience
	if p.db.cfg.Share {
		patience = commandPatience
	}
	limit, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		err := pool.PingContext(limit)
		if err == nil {
			return nil
		}
		var stated *pgconn.PgError
		if errors.As(err, &stated) && !unableState(stated.Code) { // such as a wrong password
			return err
		}
		p.db.log.Warn("waiting for PostgreSQL", "state", p.db.cfg.DSN.String(), "error", err)
		select {
		case <-time.After(startPause):
		case <-limit.Done():
			return fmt.Errorf("PostgreSQL did not answer within %s: %w", patience, err)
		}
	}
}

func (p *postgres) run(ctx context.Context) error {
	p.keepSwept(ctx)
	p.db.end()
	return p.pool.Close()
}

func (p *postgres) reader() *sql.DB { return p.pool }

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

// unableState adds single codes: read-only after a fail-over, lock not
// available, a transaction that was idle for too long, and a conflict that was
// lost too often.
func unableState(code string) bool {
	if len(code) != 5 {
		return false
	}
	switch code {
	case "25006", "55P03", "25P03", "40001", "40P01":
		return true
	}
	return postgresFaults[code[:2]]
}

func (p *postgres) fault(err error) fault {
	if _, connecting := errors.AsType[*pgconn.ConnectError](err); connecting { // whatever the server said: no statement was heard
		return unable
	}
	if stated, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch {
		case !unableState(stated.Code):
			return sound
		case stated.SeverityUnlocalized != "ERROR": // FATAL, PANIC
			return lost
		}
		return unable
	}
	switch {
	case errors.Is(err, sql.ErrConnDone), errors.Is(err, context.DeadlineExceeded):
		return unable
	case broken(err):
		return lost
	}
	return sound
}

// broken reports an error of the connection itself.
func broken(err error) bool {
	var network net.Error
	return errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || errors.Is(err, errDiscard) || errors.Is(err, pgconn.ErrConnClosed) || pgconn.SafeToRetry(err)
}
