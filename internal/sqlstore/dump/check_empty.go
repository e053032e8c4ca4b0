package dump

import (
	"context"
	"log/slog"

	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/migration"
)

// CheckEmpty returns the error with which [Load] would reject the dump in dir for the server of cfg, or nil. It changes
// nothing. Call it if a long step precedes Load. For SQLite, CheckEmpty checks only the version of the dump.
func CheckEmpty(ctx context.Context, cfg sqlstore.Config, dir string, log *slog.Logger) error {
	m, _, err := loadable(ctx, dir)
	if err != nil || cfg.DSN == "" {
		return err
	}
	pool, err := sqlstore.ConnectServer(ctx, cfg, log)
	if err != nil {
		return err
	}
	defer pool.Close()
	var accounts int64
	at, err := migration.Version(ctx, pool)
	if err == nil {
		err = pool.QueryRowContext(ctx, "SELECT count(*) FROM account").Scan(&accounts)
	}
	if migration.NoTable(err) {
		return nil // no store has been created there
	}
	switch {
	case err != nil:
		return err
	case accounts > 0:
		return notEmptyError(accounts)
	case at > m.Version:
		return migration.NewerTablesError(at, m.Version)
	}
	return nil
}
