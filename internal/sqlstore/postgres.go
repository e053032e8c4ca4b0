package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"vayu/internal/sqlstore/migration"
)

// postgres is the store on a server.
type postgres struct {
	db   *DB
	pool *sql.DB
	// sandbox holds a value for each running change of the sandbox (the world of test keys).
	sandbox chan struct{}
}

const (
	// startTimeout limits the wait for a PostgreSQL server that is still starting.
	startTimeout = time.Minute
	// commandTimeout is how long a person waits for a command.
	commandTimeout = 10 * time.Second
	startPause     = time.Second
	// maxHostTimeout limits the wait for one of several hosts.
	maxHostTimeout = 3 * time.Second
	// sandboxShare limits concurrent changes of the sandbox to one connection in four, at least one.
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
	if chosen.LockTimeout > 0 { // not for migrations, which may wait longer
		preset(cfg, "lock_timeout", milliseconds(chosen.LockTimeout))
	}
	p.pool = stdlib.OpenDB(*cfg)
	p.pool.SetMaxOpenConns(p.db.cfg.Settings.Connections)
	p.pool.SetMaxIdleConns(p.db.cfg.Settings.Connections)
	p.pool.SetConnMaxIdleTime(5 * time.Minute)
	p.sandbox = make(chan struct{}, max(1, p.db.cfg.Settings.Connections/sandboxShare))
	return nil
}

// settings returns the configuration of a connection without a statement timeout.
func (p *postgres) settings() (*pgx.ConnConfig, error) {
	cfg, err := pgx.ParseConfig(string(p.db.cfg.DSN))
	if err != nil {
		return nil, errors.New("state: the DSN cannot be read; it is postgres://user:password@host:5432/name?sslmode=verify-full") // pgx's text may hold the password
	}
	preset(cfg, "application_name", "vayu")
	preset(cfg, "idle_in_transaction_session_timeout", milliseconds(p.db.cfg.Settings.IdleTimeout))
	if cfg.ConnectTimeout == 0 { // the pool's own attempts have no other timeout
		cfg.ConnectTimeout = connectTimeout(p.db.answerTimeout, 1+len(cfg.Fallbacks))
	}
	return cfg, nil
}

// connectTimeout limits the wait for one host. A single host gets the caller's whole wait. With several hosts,
// one that does not answer must leave enough time for the next.
func connectTimeout(answer time.Duration, hosts int) time.Duration {
	if hosts == 1 {
		return answer
	}
	return min(answer/time.Duration(hosts+1), maxHostTimeout)
}

// preset sets a parameter of the session that the DSN leaves open.
func preset(cfg *pgx.ConnConfig, name, value string) {
	if cfg.RuntimeParams[name] == "" {
		cfg.RuntimeParams[name] = value
	}
}

// migrate waits for the server and migrates the tables, without a statement timeout.
func (p *postgres) migrate(ctx context.Context, cfg *pgx.ConnConfig) error {
	pool := stdlib.OpenDB(*cfg)
	defer pool.Close()
	if err := p.waitForServer(ctx, pool); err != nil {
		return err
	}
	return migration.Apply(ctx, goose.DialectPostgres, pool, p.db.cfg.Version)
}

// ConnectServer connects to the PostgreSQL server of c without migrating the tables. The caller closes the pool.
func ConnectServer(ctx context.Context, c Config, log *slog.Logger) (*sql.DB, error) {
	db, err := Open(c, log, nil)
	if err != nil {
		return nil, err
	}
	p := &postgres{db: db}
	settings, err := p.settings()
	if err != nil {
		return nil, err
	}
	pool := stdlib.OpenDB(*settings)
	if err := p.waitForServer(ctx, pool); err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	return pool, nil
}

// waitForServer waits until the server answers.
func (p *postgres) waitForServer(ctx context.Context, pool *sql.DB) error {
	timeout := startTimeout
	if p.db.cfg.Share {
		timeout = commandTimeout
	}
	limit, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for {
		err := pool.PingContext(limit)
		if err == nil {
			return nil
		}
		var stated *pgconn.PgError
		if errors.As(err, &stated) && !unavailableState(stated.Code) { // such as a wrong password
			return err
		}
		p.db.log.Warn("waiting for PostgreSQL", "state", p.db.cfg.DSN.String(), "error", err)
		select {
		case <-time.After(startPause):
		case <-limit.Done():
			return fmt.Errorf("PostgreSQL did not answer within %s: %w", timeout, err)
		}
	}
}

func (p *postgres) run(ctx context.Context) error {
	p.keepSwept(ctx)
	p.db.end()
	return p.pool.Close()
}

func (p *postgres) reader() *sql.DB { return p.pool }

// conflict reports whether the server aborted a transaction in favour of another: serialization_failure and
// deadlock_detected.
func conflict(err error) bool {
	var stated *pgconn.PgError
	return errors.As(err, &stated) && (stated.Code == "40001" || stated.Code == "40P01")
}

// postgresFaults are the classes of SQLSTATE of an unavailable server: connection exception, insufficient
// resources, operator intervention (which includes a statement timeout), system error.
var postgresFaults = map[string]bool{"08": true, "53": true, "57": true, "58": true}

// unavailableState reports whether a SQLSTATE means an unavailable server. Besides the classes above these are
// read-only after a failover, lock not available, idle-transaction timeout, and repeated conflicts.
func unavailableState(code string) bool {
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
	if _, connecting := errors.AsType[*pgconn.ConnectError](err); connecting { // no statement was sent
		return faultStore
	}
	if stated, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch {
		case !unavailableState(stated.Code):
			return faultStatement
		case stated.SeverityUnlocalized != "ERROR": // FATAL, PANIC
			return faultConnection
		}
		return faultStore
	}
	switch {
	case errors.Is(err, sql.ErrConnDone), errors.Is(err, context.DeadlineExceeded):
		return faultStore
	case broken(err):
		return faultConnection
	}
	return faultStatement
}

// broken reports an error of the connection itself.
func broken(err error) bool {
	var network net.Error
	return errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || errors.Is(err, errDiscard) || errors.Is(err, pgconn.ErrConnClosed) || pgconn.SafeToRetry(err)
}
