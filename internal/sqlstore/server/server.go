// Package server connects to a PostgreSQL server, and classifies the server's errors.
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
	// maxHostTimeout limits the wait for each host if the DSN has several hosts, so that the next host is tried soon.
	maxHostTimeout = 3 * time.Second
)

// Parse returns the connection settings of a DSN, without a statement timeout. With these settings, the server ends a
// transaction that is idle for longer than `idle`. `answer` is how long a caller waits for a connection.
func Parse(dsn config.DSN, idle, answer time.Duration) (*pgx.ConnConfig, error) {
	cfg, err := pgx.ParseConfig(string(dsn))
	if err != nil {
		return nil, errors.New("state: the DSN cannot be read; it is postgres://user:password@host:5432/name?sslmode=verify-full") // pgx's text may hold the password
	}
	preset(cfg, "application_name", "vayu")
	PresetTimeout(cfg, "idle_in_transaction_session_timeout", idle)
	if cfg.ConnectTimeout == 0 { // database/sql also connects in the background, without a deadline
		cfg.ConnectTimeout = connectTimeout(answer, 1+len(cfg.Fallbacks))
	}
	return cfg, nil
}

// connectTimeout returns the limit of the wait for one host. A single host gets the whole time that the caller waits
// (`answer`). With several hosts, the wait for a host that does not answer must leave enough time for the next host.
func connectTimeout(answer time.Duration, hosts int) time.Duration {
	if hosts == 1 {
		return answer
	}
	return min(answer/time.Duration(hosts+1), maxHostTimeout)
}

// preset sets a session parameter, unless the DSN sets it.
func preset(cfg *pgx.ConnConfig, name, value string) {
	if cfg.RuntimeParams[name] == "" {
		cfg.RuntimeParams[name] = value
	}
}

// PresetTimeout sets a session parameter that is a timeout, unless the DSN sets it.
func PresetTimeout(cfg *pgx.ConnConfig, name string, timeout time.Duration) {
	preset(cfg, name, strconv.FormatInt(timeout.Milliseconds(), 10))
}

// Connect opens a pool and waits until the server answers, at most for the time `timeout`. It fails at once if a retry
// cannot help, for example if the password is wrong.
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
