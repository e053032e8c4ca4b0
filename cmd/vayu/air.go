package main

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/ingest"
	"vayu/ingest/source"
	"vayu/internal/columnstore"
	"vayu/internal/leader"
	"vayu/internal/lifecycle"
	"vayu/internal/sqlstore"
	"vayu/pipeline/airquality"
	"vayu/query"
	"vayu/schema"
)

// air is the flow from sources to answers, once for each world.
type air struct {
	cfg     Config
	state   *sqlstore.DB // in which instances agree on who collects
	reg     prometheus.Registerer
	db      *columnstore.DB
	query   *query.Service
	log     *slog.Logger
	metrics *ingest.Metrics
	rollups [len(schema.Worlds)]*airquality.Rollup

	answering func() // called once, when the sandbox has its first answers
	once      sync.Once
	prepared  chan struct{} // closed when the tables are up to date
}

// newAir wires the flow: live air comes from the configured sources, sandbox air
// from the simulator and nothing else.
func newAir(cfg Config, st *sqlstore.DB, db *columnstore.DB, answers *query.Service, log *slog.Logger, reg prometheus.Registerer) (*air, error) {
	a := &air{cfg: cfg, state: st, reg: reg, db: db, query: answers, log: log, prepared: make(chan struct{})}
	if !cfg.has(roleIngest) {
		return a, nil
	}
	a.metrics = ingest.NewMetrics(reg)
	for _, w := range schema.Worlds {
		var err error
		if a.rollups[w], err = cfg.rollup(db, w, log, reg); err != nil {
			return nil, err
		}
		if _, err := a.runner(w, nil); err != nil { // a source that cannot be is a fault of the start
			return nil, err
		}
	}
	return a, nil
}

// runner asks the sources of a world anew: they remember what they have brought, and
// what of it was not stored is gone with the runner that they brought it to.
func (a *air) runner(w schema.World, fence leader.Fence) (*ingest.Runner, error) {
	names := source.Names(schema.Sandbox)
	if w == schema.Live {
		names = a.cfg.liveSources()
	}
	feeds, err := a.cfg.Source.Feeds(w, names, time.Now)
	if err != nil {
		return nil, err
	}
	changed := func(ctx context.Context) error { return a.changed(ctx, w) }
	store := &fenced{Archive: ingest.NewLoader(a.db.Conn(), w.Database()), fence: fence}
	return ingest.NewRunner(store, changed, a.metrics, a.log.With("world", w), feeds...)
}

// fenced is where only the one instance that collects may store readings.
type fenced struct {
	ingest.Archive

	fence leader.Fence // of who leads
}

// Load implements [ingest.Store].
func (f *fenced) Load(ctx context.Context, b *ingest.Batch) error {
	if err := f.fence(ctx); err != nil {
		return err
	}
	return f.Archive.Load(ctx, b)
}

// Run waits for ClickHouse and until its tables are up to date, and then keeps
// everything fresh until ctx ends.
func (a *air) Run(ctx context.Context) error {
	if err := a.prepare(ctx); err != nil {
		return err
	}
	close(a.prepared)
	var parts []lifecycle.Part
	if a.cfg.has(roleAPI) {
		parts = append(parts, lifecycle.Part{Name: "query", Run: a.query.Run})
	}
	if a.cfg.has(roleIngest) {
		parts = append(parts, lifecycle.Part{Name: "ingest", Run: func(ctx context.Context) error {
			return leader.Run(ctx, leader.Config{DB: a.state, Name: "ingest", Alone: a.db.Embedded(), Log: a.log, Metrics: a.reg}, a.collect)
		}})
	}
	return lifecycle.Parts(ctx, a.log, parts...)
}

// collect makes up for what an earlier run left undone, here or elsewhere, and then
// brings readings in, while this instance is the one.
func (a *air) collect(ctx context.Context, fence leader.Fence) error {
	var parts []lifecycle.Part
	for _, w := range schema.Worlds {
		runner, err := a.runner(w, fence)
		if err != nil {
			return err
		}
		parts = append(parts, lifecycle.Part{Name: "ingest of the " + w.String() + " world", Run: func(ctx context.Context) error {
			defer runner.Forget() // alerts would go on about what another instance does then
			if err := a.changed(ctx, w); err != nil {
				a.log.WarnContext(ctx, "what an earlier run left undone waits for the next readings", "world", w, "error", err)
			}
			return runner.Run(ctx)
		}})
	}
	return lifecycle.Parts(ctx, a.log, parts...)
}

// Ready waits until the tables are up to date.
func (a *air) Ready(ctx context.Context) error {
	select {
	case <-a.prepared:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// prepare waits for ClickHouse and for its tables; current answers go on. Only who
// collects changes them.
func (a *air) prepare(ctx context.Context) error {
	return awaitTables(ctx, a.db, a.cfg.has(roleIngest), a.log)
}

// changed brings figures and answers up to date with new readings. The quality
// tests of series come after the answers, which follow what the tests change.
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

// refresh brings the answers of this instance up to date. An instance without
// the API has none; the others find new figures themselves.
func (a *air) refresh(ctx context.Context, w schema.World) error {
	if !a.cfg.has(roleAPI) {
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

func (a *air) announce() { a.once.Do(a.answering) }
