package wiring

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/cmd/vayu/settings"
	"vayu/cmd/vayu/tool"
	"vayu/ingest"
	"vayu/ingest/journal"
	"vayu/ingest/loader"
	"vayu/ingest/push"
	"vayu/ingest/runner"
	"vayu/internal/columnstore"
	"vayu/internal/leader"
	"vayu/internal/lifecycle"
	"vayu/internal/sqlstore"
	"vayu/pipeline/airquality"
	"vayu/query"
	"vayu/schema"
)

// air collects readings of both worlds (live and sandbox), computes hourly and daily values from them, and
// answers requests about them.
type air struct {
	cfg     settings.Config
	state   *sqlstore.DB // the state store, which has the leader lease of the collector
	reg     prometheus.Registerer
	db      *columnstore.DB
	query   *query.Service
	log     *slog.Logger
	metrics *runner.Metrics
	rollups [len(schema.Worlds)]*airquality.Rollup

	onFirstAnswers func() // called once: when the sandbox has answers, or at the start without the role ingest
	once           sync.Once
	prepared       chan struct{} // closed when the tables are up to date
}

// newAir creates the air service. With the role ingest, it also creates the roll-ups of both worlds (they
// compute hourly and daily values), and checks the configuration of the sources. The live world has the
// configured sources, and the sandbox has only the simulator.
func newAir(cfg settings.Config, st *sqlstore.DB, db *columnstore.DB, answers *query.Service, log *slog.Logger, reg prometheus.Registerer) (*air, error) {
	a := &air{cfg: cfg, state: st, reg: reg, db: db, query: answers, log: log, prepared: make(chan struct{})}
	if !cfg.Has(settings.RoleIngest) {
		return a, nil
	}
	a.metrics = runner.NewMetrics(reg)
	for _, w := range schema.Worlds {
		var err error
		if a.rollups[w], err = tool.NewRollup(cfg, db, w, log, reg); err != nil {
			return nil, err
		}
		if _, err := a.runner(w, nil); err != nil { // an invalid source must fail the start
			return nil, err
		}
	}
	return a, nil
}

// runner returns a runner with new sources. A source may omit readings that an earlier fetch accepted. The
// sources of an earlier runner could therefore omit readings that the earlier runner failed to store.
func (a *air) runner(w schema.World, fence leader.Fence) (*runner.Runner, error) {
	all, err := a.cfg.Catalogue()
	if err != nil {
		return nil, err
	}
	names := all.NamesOf(schema.Sandbox)
	if w == schema.Live {
		names = a.cfg.LiveSources()
	}
	feeds, err := all.Feeds(w, names, time.Now)
	if err != nil {
		return nil, err
	}
	changed := func(ctx context.Context) error { return a.changed(ctx, w) }
	store := &fencedArchive{Archive: loader.New(a.db.Conn(), w.Database()), fence: fence}
	record := journal.New(a.db.Conn(), schema.OpsDatabase, w)
	return runner.New(store, record, changed, a.metrics, a.log.With("world", w), feeds...)
}

// fencedArchive is an archive that stores readings only while this instance has the leader lease.
type fencedArchive struct {
	runner.Archive

	fence leader.Fence // checks that this instance still has the leader lease
}

// Load stores a batch if this instance is still the leader. It overrides the method of [runner.Archive].
func (f *fencedArchive) Load(ctx context.Context, b *ingest.Batch) error {
	if err := f.fence(ctx); err != nil {
		return err
	}
	return f.Archive.Load(ctx, b)
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
		parts = append(parts, lifecycle.Part{Name: "ingest", Run: func(ctx context.Context) error {
			return leader.Run(ctx, leader.Config{DB: a.state, Name: "ingest", Local: a.db.Embedded(), Log: a.log, Metrics: a.reg}, a.collect)
		}})
	}
	return lifecycle.Run(ctx, a.log, parts...)
}

// collect collects readings while this instance is the leader. It first rolls up readings that an earlier
// leader has stored but not rolled up.
func (a *air) collect(ctx context.Context, fence leader.Fence) error {
	var parts []lifecycle.Part
	for _, w := range schema.Worlds {
		runner, err := a.runner(w, fence)
		if err != nil {
			return err
		}
		parts = append(parts, lifecycle.Part{Name: "ingest of the " + w.String() + " world", Run: func(ctx context.Context) error {
			defer runner.ResetMetrics() // this instance stops collecting, so its metrics must not cause alerts
			if err := a.changed(ctx, w); err != nil {
				a.log.WarnContext(ctx, "could not roll up earlier readings; the next readings trigger another attempt", "world", w, "error", err)
			}
			return runner.Run(ctx)
		}}, lifecycle.Part{Name: "pushes of the " + w.String() + " world", Run: func(ctx context.Context) error {
			recent := func(ctx context.Context) (airquality.Recent, error) { return a.rollups[w].Recent(ctx, push.Source) }
			push.Follow(ctx, recent, func(ctx context.Context) error { return a.changed(ctx, w) }, a.log.With("world", w))
			return nil
		}})
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
	return tool.AwaitTables(ctx, a.db, a.cfg.Has(settings.RoleIngest), a.log)
}

// changed rolls up new readings, and refreshes the answers in memory. Then it runs the quality tests of time
// series. If the tests change hours, it refreshes the answers again.
func (a *air) changed(ctx context.Context, w schema.World) error {
	if _, err := a.rollups[w].Increment(ctx); err != nil {
		return fmt.Errorf("rolling up: %w", err)
	}
	if err := a.refresh(ctx, w); err != nil {
		return err
	}
	tested, err := a.rollups[w].TestSeries(ctx)
	if err != nil {
		return fmt.Errorf("rolling up: %w", err)
	}
	if tested.Stations == 0 {
		return nil
	}
	return a.refresh(ctx, w)
}

// refresh updates the answers that this instance holds in memory. An instance without the role api holds no
// answers. Instances that do not collect readings poll ClickHouse for changes, and do not call refresh.
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
