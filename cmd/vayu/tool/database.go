// Package tool opens the stores for commands, with or without a running service.
package tool

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"

	"vayu/cmd/vayu/settings"
	"vayu/internal/columnstore"
	"vayu/internal/columnstore/migration"
	"vayu/internal/lifecycle"
	"vayu/pipeline/airquality"
	"vayu/schema"
	"vayu/schema/migrations/clickhouse"
)

// Database has the stores and settings that a short-lived command needs to work with ClickHouse.
type Database struct {
	settings.Config
	Log *slog.Logger
	DB  *columnstore.DB
	Reg *prometheus.Registry
}

// WithDatabase calls `work` when ClickHouse and its tables are ready. If no server is configured, the data directory
// must exist. WithDatabase then uses the engine of a running service, or starts an engine, which it stops after `work`.
func WithDatabase(cmd *cobra.Command, work func(ctx context.Context, t *Database) error) error {
	return Options{}.Run(cmd, work)
}

// Options configures how a command opens its database.
type Options struct {
	Create  bool          // create the data directory if it does not exist
	Migrate bool          // migrate the tables, even if a running service uses them
	Partial bool          // accept tables that lack rows, because the restore of an archive is running or was killed
	Guest   bool          // see columnstore.Config.Guest
	Timeout time.Duration // limits the time to connect to ClickHouse; 0 for the default
}

// Run loads the configuration, opens ClickHouse, and calls `work` when the tables are ready.
func (r Options) Run(cmd *cobra.Command, work func(ctx context.Context, t *Database) error) error {
	cfg, log, err := settings.LoadQuietly(cmd)
	if err != nil {
		return err
	}
	t := &Database{Config: cfg, Log: log, Reg: prometheus.NewRegistry()}
	if _, err := os.Stat(t.Data); err != nil && !r.Create && t.ClickHouse == "" {
		return NoData(t.Data)
	}
	if err := MakeData(t.Data); err != nil {
		return err
	}
	settings := t.ColumnStore()
	settings.Share, settings.Guest, settings.ReadyTimeout = true, r.Guest, r.Timeout
	return t.Run(cmd.Context(), settings, func(ctx context.Context) error {
		if !r.Partial {
			if err := checkRestored(ctx, t.DB); err != nil {
				return err
			}
		}
		if err := t.ensureTables(ctx, r.Migrate); err != nil {
			return err
		}
		return work(ctx, t)
	})
}

// Run opens ClickHouse, calls `work` when ClickHouse is ready, and closes ClickHouse when `work` has returned.
func (t *Database) Run(ctx context.Context, settings columnstore.Config, work func(context.Context) error) error {
	var err error
	if t.DB, err = columnstore.Open(settings, t.Log, t.Reg); err != nil {
		return err
	}
	if err := t.DB.Check(); err != nil {
		return err
	}
	ctx, done := context.WithCancel(ctx)
	defer done()
	var outcome error
	err = lifecycle.Run(ctx, t.Log,
		lifecycle.Part{Name: "engine", Run: t.DB.Run, Ready: t.DB.Ready, Drain: EngineDrain},
		lifecycle.Part{Name: "command", Run: func(ctx context.Context) error {
			outcome = work(ctx)
			done()
			<-ctx.Done()
			return nil
		}})
	return errors.Join(outcome, err)
}

// EngineDrain limits how long DB.Run may take to stop. It exceeds the 12 s after which Run kills the engine.
const EngineDrain = 20 * time.Second

// Worlds returns the migration parameters of the two databases, one for each world (live and sandbox).
func Worlds(cluster string) (all []migration.Params) {
	for _, w := range schema.Worlds {
		all = append(all, TablesOf(cluster, w))
	}
	return all
}

// Databases returns the migration parameters of schema.OpsDatabase, and then those of both worlds. schema.OpsDatabase
// is first because the ClickHouse user may not be allowed to create it. A migration then fails before it changes the
// other databases.
func Databases(cluster string) []migration.Params {
	ops := migration.Params{Database: schema.OpsDatabase, Cluster: cluster, Files: clickhouse.OpsFiles(), TTL: map[string]string{
		"source_run": "toDateTime(started) + toIntervalDay(400)",
		"rejected":   "toDateTime(started) + toIntervalDay(30)",
	}}
	return append([]migration.Params{ops}, Worlds(cluster)...)
}

// TablesOf returns the parameters of the migration templates for a world (live or sandbox).
func TablesOf(cluster string, w schema.World) migration.Params {
	return migration.Params{Database: w.Database(), Cluster: cluster, Files: clickhouse.Files, Values: clickhouse.Values()}
}

// NewRollup creates the roll-up of a world (live or sandbox). The roll-up computes hourly and daily values.
func NewRollup(c settings.Config, db *columnstore.DB, w schema.World, log *slog.Logger, reg prometheus.Registerer) (*airquality.Rollup, error) {
	storage := c.ColumnStore().Storage
	return airquality.New(airquality.Config{
		Conn: db.Conn(), Tables: TablesOf(c.Cluster, w), Kinds: c.StationKinds(), Quality: c.Quality,
		KeepReadings: storage.KeepReadings, KeepHours: storage.KeepHours, Log: log, Metrics: reg,
	})
}

// Rollup creates the roll-up of a world (live or sandbox) with the command's database and log.
func (t *Database) Rollup(w schema.World) (*airquality.Rollup, error) {
	return NewRollup(t.Config, t.DB, w, t.Log, t.Reg)
}
