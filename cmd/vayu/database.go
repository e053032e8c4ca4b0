package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"

	"vayu/internal/columnstore"
	"vayu/internal/lifecycle"
	"vayu/pipeline/airquality"
	"vayu/schema"
	"vayu/schema/migrations/clickhouse"
)

// tool is what a command needs that works with ClickHouse and then ends.
type tool struct {
	Config
	log *slog.Logger
	db  *columnstore.DB
	reg *prometheus.Registry
}

// withDatabase runs work as soon as ClickHouse and its tables are ready. It uses the engine of a running
// service, or else starts an engine that stops after work. The data directory must exist.
func withDatabase(cmd *cobra.Command, work func(ctx context.Context, t *tool) error) error {
	return toolRun{}.run(cmd, work)
}

// withNewDatabase is withDatabase for commands that may create the data directory.
func withNewDatabase(cmd *cobra.Command, work func(ctx context.Context, t *tool) error) error {
	return toolRun{create: true}.run(cmd, work)
}

// toolRun configures how a command opens its database.
type toolRun struct {
	create  bool          // create the data directory
	migrate bool          // migrate the tables, even if a running service uses them
	timeout time.Duration // for the connection to a server; 0 for the default
}

func (r toolRun) run(cmd *cobra.Command, work func(ctx context.Context, t *tool) error) error {
	cfg, log, err := loadQuietly(cmd)
	if err != nil {
		return err
	}
	t := &tool{Config: cfg, log: log, reg: prometheus.NewRegistry()}
	if _, err := os.Stat(t.Data); err != nil && !r.create && t.ClickHouse == "" {
		return noData(t.Data)
	}
	if err := makeData(t.Data); err != nil {
		return err
	}
	settings := t.columnar()
	settings.Share, settings.ReadyTimeout = true, r.timeout
	return t.run(cmd.Context(), settings, func(ctx context.Context) error {
		if err := t.ensureTables(ctx, r.migrate); err != nil {
			return err
		}
		return work(ctx, t)
	})
}

// run opens ClickHouse, runs work as soon as it is ready, and closes it.
func (t *tool) run(ctx context.Context, settings columnstore.Config, work func(context.Context) error) error {
	var err error
	if t.db, err = columnstore.Open(settings, t.log, t.reg); err != nil {
		return err
	}
	if err := t.db.Check(); err != nil {
		return err
	}
	ctx, done := context.WithCancel(ctx)
	defer done()
	var outcome error
	err = lifecycle.Run(ctx, t.log,
		lifecycle.Part{Name: "engine", Run: t.db.Run, Ready: t.db.Ready, Drain: engineDrain},
		lifecycle.Part{Name: "command", Run: func(ctx context.Context) error {
			outcome = work(ctx)
			done()
			<-ctx.Done()
			return nil
		}})
	return errors.Join(outcome, err)
}

// engineDrain is the time for the engine to finish its queries and close its tables when it is stopped.
const engineDrain = 20 * time.Second

// worlds returns the parameters of the two databases, one for each world (live and sandbox).
func worlds(db *columnstore.DB) []columnstore.Params {
	var all []columnstore.Params
	for _, w := range schema.Worlds {
		all = append(all, tablesOf(db, w))
	}
	return all
}

// tablesOf returns the parameters of the tables of a world.
func tablesOf(db *columnstore.DB, w schema.World) columnstore.Params {
	return columnstore.Params{Database: w.Database(), Cluster: db.Cluster(), Values: clickhouse.Values()}
}

// newRollup creates the roll-up of a world, which computes hours and days from readings.
func newRollup(c Config, db *columnstore.DB, w schema.World, log *slog.Logger, reg prometheus.Registerer) (*airquality.Rollup, error) {
	storage := c.columnar().Storage
	return airquality.New(airquality.Config{
		Conn: db.Conn(), Tables: tablesOf(db, w), Kinds: c.cityKinds(), Quality: c.Quality,
		KeepReadings: storage.KeepReadings, KeepHours: storage.KeepHours, Log: log, Metrics: reg,
	})
}

// rollup creates the roll-up of a world with the command's database and log.
func (t *tool) rollup(w schema.World) (*airquality.Rollup, error) {
	return newRollup(t.Config, t.db, w, t.log, t.reg)
}
