// Package server connects to a PostgreSQL server, and classifies its errors.
package server

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"vayu/internal/config"
)

const (
	startPause = time.Second
	// maxHostTimeout limits the wait for one of several hosts.
	maxHostTimeout = 3 * time.Second
)

// Parse returns the configuration of a connection without a statement timeout. The server ends a transaction that is
// idle. answer is how long a caller waits for a connection.
func Parse(dsn config.DSN, idle, answer time.Duration) (*pgx.ConnConfig, error) {
	cfg, err := pgx.ParseConfig(string(dsn))
	if err != nil {
		return nil, errors.New("state: the DSN cannot be read; it is postgres://user:password@host:5432/name?sslmode=verify-full") // pgx's text may hold the password
	}
	preset(cfg, "application_name", "vayu")
	PresetTimeout(cfg, "idle_in_transaction_session_timeout", idle)
	if cfg.ConnectTimeout == 0 { // the pool's own attempts have no other timeout
		cfg.ConnectTimeout = connectTimeout(answer, 1+len(cfg.Fallbacks))
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

// PresetTimeout sets a timeout of the session that the DSN leaves open.
func PresetTimeout(cfg *pgx.ConnConfig, name string, timeout time.Duration) {
	preset(cfg, name, strconv.FormatInt(timeout.Milliseconds(), 10))
}

// Connect opens a pool and waits until the server answers, at most for timeout. It fails at once if the server rejects
// the connection for good, as for a wrong password.
func Connect(ctx context.Context, cfg *pgx.ConnConfig, timeout time.Duration, log *slog.Logger) (*sql.DB, error) {
	pool := stdlib.OpenDB(*cfg)
	if err := wait(ctx, pool, timeout, log); err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	return pool, nil
}

func wait(ctx context.Context, pool *sql.DB, timeout time.Duration, log *slog.Logger) error {
	limit, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for {
		err := pool.PingContext(limit)
		if err == nil {
			return nil
		}
		var stated *pgconn.PgError
		if errors.As(err, &stated) && !Unavailable(stated.Code) { // such as a wrong password
			return err
		}
		log.Warn("waiting for PostgreSQL", "error", err)
		select {
		case <-time.After(startPause):
		case <-limit.Done():
			return fmt.Errorf("PostgreSQL did not answer within %s: %w", timeout, err)
		}
	}
}
