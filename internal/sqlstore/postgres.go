package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"vayu/internal/sqlstore/migration"
	"vayu/internal/sqlstore/server"
)

// postgres is the engine for a store on a PostgreSQL server.
type postgres struct {
	db   *DB
	pool *sql.DB
	// sandbox is a semaphore for changes of the sandbox (world of test keys). Each running change has an element in it.
	sandbox chan struct{}
	// waiting maps a group (see [WithGroup]) to its waiting changes. A group has an entry while a goroutine commits its
	// changes. The mutex mu guards the map.
	waiting map[string][]*change
	mu      sync.Mutex
	commits atomic.Uint64 // number of transactions that this process has committed
}

const (
	// startTimeout limits the wait for a PostgreSQL server that is still starting.
	startTimeout = time.Minute
	// commandTimeout is the same limit for a command (Config.Share). It is short, because a person waits.
	commandTimeout = 10 * time.Second
	// sandboxShare divides the connections: the quotient, at least 1, limits the concurrent changes of the sandbox.
	sandboxShare = 4
)

func (p *postgres) open(ctx context.Context) error {
	cfg, err := p.parse()
	if err != nil {
		return err
	}
	if err := p.migrate(ctx, cfg.Copy()); err != nil {
		return err
	}
	chosen := p.db.cfg.Settings
	server.PresetTimeout(cfg, "statement_timeout", chosen.StatementTimeout)
	if chosen.LockTimeout > 0 { // migrations have run above, without this limit
		server.PresetTimeout(cfg, "lock_timeout", chosen.LockTimeout)
	}
	p.pool = stdlib.OpenDB(*cfg)
	p.pool.SetMaxOpenConns(p.db.cfg.Settings.Connections)
	p.pool.SetMaxIdleConns(p.db.cfg.Settings.Connections)
	p.pool.SetConnMaxIdleTime(5 * time.Minute)
	p.waiting = map[string][]*change{}
	p.sandbox = make(chan struct{}, max(1, p.db.cfg.Settings.Connections/sandboxShare))
	return nil
}

// parse returns the configuration of a connection without a statement timeout.
func (p *postgres) parse() (*pgx.ConnConfig, error) {
	return server.Parse(p.db.cfg.DSN, p.db.cfg.Settings.IdleTimeout, p.db.answerTimeout)
}

// connect opens a pool and waits until the server answers. A command waits less long than a service.
func (p *postgres) connect(ctx context.Context, cfg *pgx.ConnConfig) (*sql.DB, error) {
	timeout := startTimeout
	if p.db.cfg.Share {
		timeout = commandTimeout
	}
	return server.Connect(ctx, cfg, timeout, p.db.log.With("state", p.db.cfg.DSN.String()))
}

// migrate waits for the server and migrates the tables, without a statement timeout.
func (p *postgres) migrate(ctx context.Context, cfg *pgx.ConnConfig) error {
	pool, err := p.connect(ctx, cfg)
	if err != nil {
		return err
	}
	defer pool.Close()
	return migration.Apply(ctx, goose.DialectPostgres, pool, p.db.cfg.Version)
}

// ConnectServer connects to the PostgreSQL server of c without migrating the tables. The caller closes the pool.
func ConnectServer(ctx context.Context, c Config, log *slog.Logger) (*sql.DB, error) {
	db, err := Open(c, log, nil)
	if err != nil {
		return nil, err
	}
	p := &postgres{db: db}
	settings, err := p.parse()
	if err != nil {
		return nil, err
	}
	return p.connect(ctx, settings)
}

func (p *postgres) run(ctx context.Context) error {
	server.AnalyzeGrown(ctx, p.pool, p.db.cfg.Settings.StatementTimeout+answerSlack, p.commits.Load, p.db.log)
	p.db.end()
	return p.pool.Close()
}

func (p *postgres) reader() *sql.DB { return p.pool }

func (p *postgres) fault(err error) fault {
	if _, connecting := errors.AsType[*pgconn.ConnectError](err); connecting { // no statement was sent
		return faultStore
	}
	if stated, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch {
		case !server.Unavailable(stated.Code):
			return faultStatement
		case stated.SeverityUnlocalized != "ERROR": // FATAL or PANIC: the server ends the connection
			return faultConnection
		}
		return faultStore
	}
	switch {
	case errors.Is(err, sql.ErrConnDone), errors.Is(err, context.DeadlineExceeded):
		return faultStore
	case server.Broken(err):
		return faultConnection
	}
	return faultStatement
}
