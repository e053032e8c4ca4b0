package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"

	"vayu/internal/columnar"
	"vayu/internal/run"
	"vayu/schema"
	"vayu/schema/clickhouse"
)

// newEngine is the child process that owns the embedded engine's data.
func newEngine() *cobra.Command {
	return &cobra.Command{
		Use:    "engine",
		Short:  "Run the embedded ClickHouse engine (started by the other commands)",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE:   runEngine,
	}
}

// tool is what a one-off command works with.
type tool struct {
	Config
	log *slog.Logger
	db  *columnar.DB
	reg *prometheus.Registry
}

// withDatabase runs work with ClickHouse ready and migrated: beside a running
// service it uses that service's engine, and without one it starts its own for
// as long as work lasts. The data must be there already.
func withDatabase(cmd *cobra.Command, work func(ctx context.Context, t *tool) error) error {
	return runTool(cmd, false, work)
}

// withNewDatabase is withDatabase for work that may be the first.
func withNewDatabase(cmd *cobra.Command, work func(ctx context.Context, t *tool) error) error {
	return runTool(cmd, true, work)
}

func runTool(cmd *cobra.Command, create bool, work func(ctx context.Context, t *tool) error) error {
	cfg, log, err := loadQuietly(cmd)
	if err != nil {
		return err
	}
	t := &tool{Config: cfg, log: log, reg: prometheus.NewRegistry()}
	if _, err := os.Stat(t.Data); err != nil && !create && t.ClickHouse == "" {
		return noData(t.Data)
	}
	if err := makeData(t.Data); err != nil {
		return err
	}
	return t.run(cmd.Context(), true, func(ctx context.Context) error {
		if err := migrate(ctx, t.db, t.log); err != nil {
			return err
		}
		return work(ctx, t)
	})
}

// run does work with ClickHouse ready. share uses the engine of a running
// service.
func (t *tool) run(ctx context.Context, share bool, work func(context.Context) error) error {
	settings := t.columnar()
	settings.Share = share
	var err error
	if t.db, err = columnar.Open(settings, t.log, t.reg); err != nil {
		return err
	}
	if err := t.db.Check(); err != nil {
		return err
	}
	ctx, done := context.WithCancel(ctx)
	defer done()
	var outcome error
	err = run.Parts(ctx, t.log,
		run.Part{Name: "engine", Run: t.db.Run, Ready: t.db.Ready, Drain: engineDrain},
		run.Part{Name: "command", Run: func(ctx context.Context) error {
			outcome = work(ctx)
			done()
			<-ctx.Done()
			return nil
		}})
	return errors.Join(outcome, err)
}

// engineDrain is how long the engine may take to finish its queries and close
// its tables.
const engineDrain = 20 * time.Second

// migrate brings the databases of both worlds up to date.
func migrate(ctx context.Context, db *columnar.DB, log *slog.Logger) error {
	for _, world := range worlds(db) {
		if err := columnar.Migrate(ctx, db, clickhouse.Files, world); err != nil {
			return err
		}
		if err := db.Store(ctx, world); err != nil {
			return err
		}
		log.DebugContext(ctx, "database is up to date", "database", world.Database)
	}
	return nil
}

// worlds is what the databases depend on.
func worlds(db *columnar.DB) []columnar.Params {
	var all []columnar.Params
	for _, w := range schema.Worlds {
		all = append(all, columnar.Params{Database: w.Database(), Cluster: db.Cluster(), Values: clickhouse.Values()})
	}
	return all
}

// makeData makes the data directory, which only its owner may read: it holds
// keys. A restore that was killed has left half of one, which is refused.
func makeData(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("making the data directory: %w", err)
	}
	return unlessRestoring(dir)
}

func newMigrate() *cobra.Command {
	return &cobra.Command{
		Use:   "migrate",
		Short: "Bring the databases up to date (serve does it too)",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withNewDatabase(cmd, func(ctx context.Context, t *tool) error {
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
