// Package migration creates the tables of the state store and migrates them to a version.
package migration

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	migrations "vayu/schema/migrations/sql"
)

const (
	// lockSeconds is the pause between two attempts to get the migration lock of PostgreSQL, in seconds.
	lockSeconds = 1
	// lockTries limits the attempts to get the migration lock, so that the wait for it ends after a minute.
	lockTries = 60
)

// newProvider returns a goose provider with the migrations for one database.
func newProvider(dialect goose.Dialect, db *sql.DB) (*goose.Provider, error) {
	options := []goose.ProviderOption{goose.WithDisableGlobalRegistry(true)}
	if dialect == goose.DialectPostgres {
		locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(lockSeconds, lockTries))
		if err != nil {
			return nil, fmt.Errorf("migrating: %w", err)
		}
		options = append(options, goose.WithSessionLocker(locker))
	}
	provider, err := goose.NewProvider(dialect, db, migrations.Files, options...)
	if err != nil {
		return nil, fmt.Errorf("reading the migrations: %w", err)
	}
	return provider, nil
}

// Newest returns the newest version of the tables that this program supports.
func Newest(dialect goose.Dialect, db *sql.DB) (int64, error) {
	provider, err := newProvider(dialect, db)
	if err != nil {
		return 0, err
	}
	return newest(provider), nil
}

func newest(provider *goose.Provider) int64 {
	sources := provider.ListSources()
	return sources[len(sources)-1].Version
}

// Apply migrates the tables to a version; 0 selects the newest. It fails if the tables are newer than that version. On
// PostgreSQL an advisory lock makes other instances wait. On SQLite the caller must have locked the directory.
func Apply(ctx context.Context, dialect goose.Dialect, db *sql.DB, to int64) error {
	provider, err := newProvider(dialect, db)
	if err != nil {
		return err
	}
	known := newest(provider)
	if to == 0 {
		to = known
	}
	if err := refuseNewer(ctx, db, known, to); err != nil {
		return err
	}
	if _, err := provider.UpTo(ctx, to); err != nil {
		return fmt.Errorf("migrating: %w", err)
	}
	// Check again: an instance of a newer program may have had the migration lock in the meantime, and have migrated
	// the tables.
	return refuseNewer(ctx, db, known, to)
}

// refuseNewer fails if the tables are newer than this program or the target version. An empty store passes.
func refuseNewer(ctx context.Context, db querier, known, to int64) error {
	switch at, err := Version(ctx, db); {
	case NoTable(err):
	case err != nil: // an unreadable version must not count as an old one
		return err
	case at > known:
		return fmt.Errorf("the state store is at version %d, and this program supports %d only: it belongs to a newer vayu, start that version", at, known)
	case at > to:
		return NewerTablesError(at, to)
	}
	return nil
}

// NoTable reports whether err is the error for a table that does not exist.
func NoTable(err error) bool {
	if stated, ok := errors.AsType[*pgconn.PgError](err); ok {
		return stated.Code == "42P01"
	}
	return err != nil && strings.Contains(err.Error(), "no such table: ") // SQLite has no code for it
}

// NewerTablesError is the error for a store whose tables are newer than the dump.
func NewerTablesError(at, to int64) error {
	return fmt.Errorf("the state store is at version %d, and the dump is of version %d: load it where no store is yet", at, to)
}

// Version returns the version of the tables, and changes nothing. It fails if there are no tables.
func Version(ctx context.Context, db querier) (int64, error) {
	var at int64
	err := db.QueryRowContext(ctx, "SELECT COALESCE(max(version_id), 0) FROM goose_db_version WHERE is_applied").Scan(&at)
	if err != nil {
		return 0, fmt.Errorf("reading the version of the state store: %w", err)
	}
	return at, nil
}

// querier is a *sql.DB, *sql.Conn or *sql.Tx.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}
