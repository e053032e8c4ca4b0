package sqlstore

import (
	"context"
	"log/slog"

	"github.com/jackc/pgx/v5/stdlib"
)

// Vacant says, as an error, why [Load] would refuse to put the dump in dir into the
// store on a server that cfg names, and changes nothing there: it is for whoever does
// something long before Load. A store in a directory is left to Load.
func Vacant(ctx context.Context, cfg Config, dir string, log *slog.Logger) error {
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
	if err := p.await(ctx, pool); err != nil {
		return err
	}
	var accounts int64
	at, err := version(ctx, pool)
	if err == nil {
		err = pool.QueryRowContext(ctx, "SELECT count(*) FROM account").Scan(&accounts)
	}
	if noTable(err) {
		return nil // nobody has made a store there
	}
	switch {
	case err != nil:
		return err
	case accounts > 0:
		return occupied(accounts)
	case at > m.Version:
		return ahead(at, m.Version)
	}
	return nil
}
