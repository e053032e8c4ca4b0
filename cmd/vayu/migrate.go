package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"vayu/ingest"
	"vayu/internal/columnstore"
	"vayu/internal/sleep"
	"vayu/schema"
	"vayu/schema/migrations/clickhouse"
)

// Only these migrate the tables of ClickHouse: instances with the role ingest, `vayu
// migrate`, `vayu restore`, and a process that started the embedded engine.
//
// All others only check them. A newer command or a missing setting on one machine thus
// changes nothing for the others.

// migrate migrates the databases of both worlds.
func migrate(ctx context.Context, db *columnstore.DB) error {
	for _, world := range worlds(db) {
		if err := columnstore.Migrate(ctx, db, clickhouse.Files, world); err != nil {
			return err
		}
	}
	for _, world := range schema.Worlds {
		if err := ingest.WriteCatalogue(ctx, db.Conn(), world.Database()); err != nil {
			return err
		}
	}
	return applyStorage(ctx, db)
}

// applyStorage applies the storage and retention settings to both worlds.
func applyStorage(ctx context.Context, db *columnstore.DB) error {
	for _, world := range worlds(db) {
		if err := db.ApplyStorage(ctx, world); err != nil {
			return err
		}
	}
	return nil
}

// checkTimeout bounds a check: a cluster needs some seconds to detect an unavailable
// node.
const checkTimeout = 15 * time.Second

// checkTables fails when the databases of a world differ from what this program needs.
func checkTables(ctx context.Context, db *columnstore.DB) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	for _, world := range worlds(db) {
		err := columnstore.CheckMigrated(ctx, db, clickhouse.Files, world)
		if needsMigration(err) {
			return fmt.Errorf("%w: start an instance with the role ingest, or run \"vayu migrate\"", err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// needsMigration reports whether the tables must be migrated first.
func needsMigration(err error) bool {
	_, behind := errors.AsType[*columnstore.BehindError](err)
	return behind
}

const (
	// tablesPollInterval is the interval of checks of a waiting instance.
	tablesPollInterval = 2 * time.Second
	// waitLogInterval is the interval of log messages about an unavailable server or
	// node.
	waitLogInterval = time.Minute
	// tablesTimeout is how long a command waits until the service whose engine it uses
	// has made the tables.
	tablesTimeout         = 10 * time.Second
	serviceTablesInterval = 200 * time.Millisecond
)

// awaitTables waits until the tables are as this program needs them, and migrates them
// if change is set. It retries while a server or node is unavailable, and logs the
// reason. A permanent failure is an error.
func awaitTables(ctx context.Context, db *columnstore.DB, change bool, log *slog.Logger) error {
	w := tableWait{log: log}
	for {
		err := db.Ready(ctx)
		if err != nil {
			return cmp.Or(ctx.Err(), err)
		}
		if change || db.OwnsEngine() {
			err = migrate(ctx, db)
		} else {
			err = checkTables(ctx, db)
		}
		switch {
		case err == nil:
			w.done(ctx)
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case !needsMigration(err) && !columnstore.Transient(err) && clickHouseResponds(ctx, db):
			return err
		}
		w.warn(ctx, err)
		sleep.For(ctx, tablesPollInterval)
	}
}

// tableWait logs why an instance waits. A needed migration is logged once. Other
// reasons are logged at intervals, because their texts differ between attempts.
type tableWait struct {
	log    *slog.Logger
	at     time.Time // of the last message; zero before the first
	behind bool      // the last message was about a migration
}

func (w *tableWait) warn(ctx context.Context, err error) {
	behind := needsMigration(err)
	if !w.at.IsZero() && behind == w.behind && (behind || time.Since(w.at) < waitLogInterval) {
		return
	}
	w.behind, w.at = behind, time.Now()
	w.log.WarnContext(ctx, "waiting for the tables of ClickHouse", "error", err)
}

// done logs the end of the wait.
func (w *tableWait) done(ctx context.Context) {
	if !w.at.IsZero() {
		w.log.InfoContext(ctx, "the tables of ClickHouse are up to date")
	}
}

// clickHouseResponds reports whether ClickHouse responds at all.
func clickHouseResponds(ctx context.Context, db *columnstore.DB) bool {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	return db.Conn().Ping(ctx) == nil
}

// ensureTables checks the tables. With change, or on an engine of its own, the command
// migrates them.
func (t *tool) ensureTables(ctx context.Context, change bool) error {
	if change || t.db.OwnsEngine() {
		return migrate(ctx, t.db)
	}
	err := checkTables(ctx, t.db)
	for began := time.Now(); t.db.Embedded() && needsMigration(err) && time.Since(began) < tablesTimeout && sleep.For(ctx, serviceTablesInterval); {
		err = checkTables(ctx, t.db)
	}
	return err
}

func newMigrate() *cobra.Command {
	return &cobra.Command{
		Use:   "migrate",
		Short: "Migrate the tables of ClickHouse (an instance with the role ingest does it too)",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return toolRun{create: true, migrate: true}.run(cmd, func(ctx context.Context, t *tool) error {
				for _, w := range schema.Worlds {
					var version uint32
					query := fmt.Sprintf("SELECT max(version) FROM %s.migration", w.Database())
					if err := t.db.Conn().QueryRow(ctx, query).Scan(&version); err != nil {
						return fmt.Errorf("reading the version of %s: %w", w.Database(), err)
					}
					_, _ = fmt.Fprintf(cmd.OutOrStdout(), "%s is at version %d\n", w.Database(), version)
				}
				return nil
			})
		},
	}
}
