package wiring

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/cmd/vayu/settings"
	"vayu/cmd/vayu/tool"
	"vayu/ingest/collect"
	"vayu/internal/columnstore"
	"vayu/internal/lifecycle"
	"vayu/internal/sqlstore"
	"vayu/pipeline/airquality"
	"vayu/pipeline/airquality/forecast"
	"vayu/query"
	"vayu/schema"
)

// air collects readings of both worlds (live and sandbox), computes hourly and daily values from them, and
// answers requests about them.
type air struct {
	cfg   settings.Config
	state *sqlstore.DB
	db    *columnstore.DB
	query *query.Service
	log   *slog.Logger

	collector *collect.Collector // nil without the role ingest
	forecasts *forecast.Job      // nil without the role ingest

	onFirstAnswers func() // called once: when the sandbox has answers; if this instance lacks the role ingest, at its start
	once           sync.Once
	prepared       chan struct{} // closed when the tables are up to date
}

// newAir creates the air service. With the role ingest, it also creates the roll-ups of both worlds (which compute
// hourly and daily values), and checks the configuration of the sources. The live world has the configured sources.
// The sandbox has only the simulator.
func newAir(cfg settings.Config, st *sqlstore.DB, db *columnstore.DB, answers *query.Service, log *slog.Logger, reg prometheus.Registerer) (*air, error) {
	a := &air{cfg: cfg, state: st, db: db, query: answers, log: log, prepared: make(chan struct{})}
	if !cfg.Has(settings.RoleIngest) {
		return a, nil
	}
	var err error
	if a.forecasts, err = forecast.NewJob(st, db.Conn(), db.Embedded(), log, reg); err != nil {
		return nil, err
	}
	a.collector, err = tool.NewCollector(cfg, st, db, cfg.SourcesOf, a.changed, log, reg)
	return a, err
}

// Run waits for ClickHouse and its tables, then serves queries (role api) and collects readings (role ingest).
func (a *air) Run(ctx context.Context) error {
	if err := a.prepare(ctx); err != nil {
		return err
	}
	close(a.prepared)
	var parts []lifecycle.Part
	if a.cfg.Has(settings.RoleAPI) {
		parts = append(parts, lifecycle.Part{Name: "query", Run: a.query.Run})
	}
	if a.cfg.Has(settings.RoleIngest) {
		parts = append(parts, lifecycle.Part{Name: "ingest", Run: a.collector.Run}, lifecycle.Part{Name: "forecast", Run: a.forecasts.Run})
	}
	return lifecycle.Run(ctx, a.log, parts...)
}

// Ready waits until the tables of ClickHouse are up to date.
func (a *air) Ready(ctx context.Context) error {
	select {
	case <-a.prepared:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// prepare waits until ClickHouse runs and has its tables. Meanwhile the API answers from the last snapshot.
// Only an instance with the role ingest migrates the tables.
func (a *air) prepare(ctx context.Context) error {
	return tool.AwaitTables(ctx, a.db, a.state, a.cfg.Has(settings.RoleIngest), a.log)
}

// changed rolls up new readings into hourly rows, and refreshes the snapshot in memory. Then it runs the quality tests
// that compare readings with each other. If the test results change hourly rows, it refreshes the snapshot again.
func (a *air) changed(ctx context.Context, w schema.World, rollup *airquality.Rollup) error {
	if _, err := rollup.Increment(ctx); err != nil {
		return fmt.Errorf("rolling up: %w", err)
	}
	if err := a.refresh(ctx, w); err != nil {
		return err
	}
	tested, err := rollup.TestSeries(ctx)
	if err != nil {
		return fmt.Errorf("rolling up: %w", err)
	}
	if tested.Stations == 0 {
		return nil
	}
	return a.refresh(ctx, w)
}

// refresh updates the snapshot in the memory of this instance, if the instance has the role api. Instances that do not
// collect readings do not call refresh. They poll ClickHouse for changes instead.
func (a *air) refresh(ctx context.Context, w schema.World) error {
	if !a.cfg.Has(settings.RoleAPI) {
		return nil
	}
	if err := a.query.Refresh(ctx, w); err != nil {
		return fmt.Errorf("refreshing the answers: %w", err)
	}
	if _, ok := a.query.Newest(w); ok && w == schema.Sandbox {
		a.announce()
	}
	return nil
}

func (a *air) announce() { a.once.Do(a.onFirstAnswers) }
