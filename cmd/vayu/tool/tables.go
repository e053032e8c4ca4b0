package tool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"vayu/ingest/loader"
	"vayu/internal/columnstore"
	"vayu/internal/columnstore/migration"
	"vayu/internal/leader"
	"vayu/internal/sleep"
	"vayu/internal/sqlstore"
	"vayu/query/archive"
	"vayu/schema"
)

// Instances with the role ingest migrate the tables of ClickHouse. So do `vayu migrate`, `vayu restore`, and a process
// that has started the embedded engine. Other processes only check the tables. A command of another version, or with
// other settings, therefore cannot change the tables of a running service.

// Migrate migrates all databases.
func Migrate(ctx context.Context, db *columnstore.DB) error {
	for _, p := range Databases(db.Config().Cluster) {
		if err := migration.Apply(ctx, db, p); err != nil {
			return err
		}
	}
	for _, world := range schema.Worlds {
		if err := loader.WriteCatalogue(ctx, db.Conn(), world.Database()); err != nil {
			return err
		}
	}
	return ApplyStorage(ctx, db)
}

// ApplyStorage applies the storage and retention settings to the databases.
func ApplyStorage(ctx context.Context, db *columnstore.DB) error {
	for _, p := range Databases(db.Config().Cluster) {
		if err := migration.ApplyStorage(ctx, db, p); err != nil {
			return err
		}
	}
	return nil
}

// checkRestored returns an error while a world is restored from an archive, or if the restore was killed.
func checkRestored(ctx context.Context, db *columnstore.DB) error {
	return archive.CheckComplete(ctx, db.Conn(), schema.Live.Database(), schema.Sandbox.Database())
}

// checkTimeout limits a check of the tables. A cluster needs some seconds to detect an unavailable node.
const checkTimeout = 15 * time.Second

// checkTables returns an error unless the tables of all databases have the needed version.
func checkTables(ctx context.Context, db *columnstore.DB) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	for _, p := range Databases(db.Config().Cluster) {
		switch err := migration.Check(ctx, db, p); {
		case needsMigration(err):
			return fmt.Errorf("%w: start an instance with the role ingest, or run \"vayu migrate\"", err)
		case err != nil:
			return err
		}
	}
	return nil
}

// needsMigration reports whether an error of checkTables means that the tables must be migrated.
func needsMigration(err error) bool {
	_, behind := errors.AsType[*migration.BehindError](err)
	return behind
}

const (
	// tablesPollInterval is the pause between two checks of the tables while another instance migrates them.
	tablesPollInterval = 2 * time.Second
	// waitLogInterval is the pause between two log messages while an instance waits for the tables.
	waitLogInterval = time.Minute
	// tablesTimeout limits how long a command waits without progress while a running service migrates the tables. A
	// service migrates the tables after its start, and the command uses the engine of the service.
	tablesTimeout         = 30 * time.Second
	serviceTablesInterval = 200 * time.Millisecond
)

// AwaitTables waits until the tables have the version that this program needs. It migrates the tables if `change` is
// true, or if this process has started the engine. It retries while the tables need a migration, and while a server or
// node is unavailable, and logs the reason. If a retry cannot succeed, it returns an error. The instances that share the
// PostgreSQL `state` migrate one at a time.
func AwaitTables(ctx context.Context, db *columnstore.DB, state *sqlstore.DB, change bool, log *slog.Logger) error {
	var logged time.Time
	for {
		err := db.Ready(ctx)
		if err != nil {
			return cmp.Or(ctx.Err(), err)
		}
		err = checkRestored(ctx, db)
		switch {
		case err != nil:
		case change || db.OwnsEngine():
			err = migrateAlone(ctx, db, state, log)
		default:
			err = checkTables(ctx, db)
		}
		switch {
		case err == nil:
			if !logged.IsZero() {
				log.InfoContext(ctx, "the tables of ClickHouse are up to date")
			}
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case !needsMigration(err) && !columnstore.Transient(err) && clickHouseResponds(ctx, db):
			return err
		}
		if time.Since(logged) >= waitLogInterval {
			logged = time.Now()
			log.WarnContext(ctx, "waiting for the tables of ClickHouse", "error", err)
		}
		sleep.For(ctx, tablesPollInterval)
	}
}

// migrateAlone migrates all databases. If the tables of a server need a migration, it first waits for the leader lease
// "tables". Otherwise one instance could rename a table between two statements of another instance.
func migrateAlone(ctx context.Context, db *columnstore.DB, state *sqlstore.DB, log *slog.Logger) error {
	if db.Embedded() {
		return Migrate(ctx, db)
	}
	switch err := checkTables(ctx, db); {
	case err == nil:
		return Migrate(ctx, db) // only the catalogue and the storage settings
	case !needsMigration(err):
		return err
	}
	log.InfoContext(ctx, "the tables of ClickHouse need a migration, which one instance makes at a time")
	lease := leader.Config{DB: state, Name: "tables", Log: log}
	err := leader.Run(ctx, lease, func(ctx context.Context, _ leader.Fence) error { return Migrate(ctx, db) })
	return cmp.Or(err, ctx.Err()) // leader.Run returns nil if ctx ends
}

func clickHouseResponds(ctx context.Context, db *columnstore.DB) bool {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	return db.Conn().Ping(ctx) == nil
}

// ensureTables ensures that the tables have the version that this program needs. It migrates the tables if `change` is
// true, or if this command has started the engine. Otherwise it only checks them. If a running service has started the
// engine, that service migrates the tables. ensureTables then repeats the check, but fails after tablesTimeout without
// progress.
func (t *Database) ensureTables(ctx context.Context, change bool) error {
	if change || t.DB.OwnsEngine() {
		return Migrate(ctx, t.DB)
	}
	err := checkTables(ctx, t.DB)
	for moved := time.Now(); t.DB.Embedded() && needsMigration(err) && time.Since(moved) < tablesTimeout && sleep.For(ctx, serviceTablesInterval); {
		before := err.Error()
		if err = checkTables(ctx, t.DB); err != nil && err.Error() != before {
			moved = time.Now()
		}
	}
	return err
}
