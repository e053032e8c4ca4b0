package state

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"vayu/schema/state"
)

// migrate brings the tables up to date. On PostgreSQL an advisory lock lets one
// instance do it while the others wait.
func migrate(ctx context.Context, dialect goose.Dialect, db *sql.DB) error {
	options := []goose.ProviderOption{goose.WithDisableGlobalRegistry(true)}
	if dialect == goose.DialectPostgres {
		locker, err := lock.NewPostgresSessionLocker()
		if err != nil {
			return fmt.Errorf("migrating: %w", err)
		}
		options = append(options, goose.WithSessionLocker(locker))
	}
	provider, err := goose.NewProvider(dialect, db, state.Files, options...)
	if err != nil {
		return fmt.Errorf("reading the migrations: %w", err)
	}
	newest := provider.ListSources()[len(provider.ListSources())-1].Version
	if at, err := provider.GetDBVersion(ctx); err == nil && at > newest {
		return fmt.Errorf("the state store is at version %d, and this program knows %d only: it belongs to a newer vayu", at, newest)
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("migrating: %w", err)
	}
	return nil
}

// broken reports an error of the connection itself.
func broken(err error) bool {
	var network net.Error
	return errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || pgconn.SafeToRetry(err)
}
