package sqlstore

import (
	"context"
	"log/slog"

	"github.com/jackc/pgx/v5/stdlib"
)

// CheckEmpty returns the error with which [Load] would reject the dump in dir for the server of cfg. It changes
// nothing, and is for callers with a long step before Load. It does not check SQLite.
func CheckEmpty(ctx context.Context, cfg Config, dir string, log *slog.Logger) error {
	m, _, err := loadable(ctx, dir)
	if err != nil || cfg.DSN == "" {
		return err
	}
	db, err := Open(cfg, log, nil)
	if err != nil {
		return err
	}
	p := &postgres{db: db}
	settings, err := p.settings()
	if err != nil {
		return err
	}
	pool := stdlib.OpenDB(*settings)
	defer pool.Close()
	if err := p.waitForServer(ctx, pool); err != nil {
		return err
	}
	var accounts int64
	at, err := version(ctx, pool)
	if err == nil {
		err = pool.QueryRowContext(ctx, "SELECT count(*) FROM account").Scan(&accounts)
	}
	if noTable(err) {
		return nil // no store has been created there
	}
	switch {
	case err != nil:
		return err
	case accounts > 0:
		return notEmptyError(accounts)
	case at > m.Version:
		return newerTablesError(at, m.Version)
	}
	return nil
}
