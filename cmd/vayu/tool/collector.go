package tool

import (
	"context"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/cmd/vayu/settings"
	"vayu/ingest/collect"
	"vayu/internal/columnstore"
	"vayu/internal/sqlstore"
	"vayu/pipeline/airquality"
	"vayu/schema"
)

// RollUp computes hourly and daily values from new readings of a world (live or sandbox).
type RollUp func(ctx context.Context, w schema.World, rollup *airquality.Rollup) error

// Update is the [RollUp] of commands. The [RollUp] of the service also refreshes a snapshot, which commands lack.
func Update(ctx context.Context, _ schema.World, rollup *airquality.Rollup) error {
	_, err := rollup.Update(ctx)
	return err
}

// NewCollector creates a collector of the sources that `sources` names in each world. An invalid source is an error.
func NewCollector(
	cfg settings.Config, st *sqlstore.DB, db *columnstore.DB, sources func(schema.World) []string, run RollUp, log *slog.Logger, reg prometheus.Registerer,
) (*collect.Collector, error) {
	all, err := cfg.Catalogue()
	if err != nil {
		return nil, err
	}
	p := collect.Parts{State: st, Conn: db.Conn(), Catalogue: all, Embedded: db.Embedded(), Data: cfg.Data, Sources: sources, Log: log, Registry: reg}
	for _, w := range schema.Worlds {
		rollup, err := NewRollup(cfg, db, w, log, reg)
		if err != nil {
			return nil, err
		}
		p.RollUps[w].Run = func(ctx context.Context) error { return run(ctx, w, rollup) }
		p.RollUps[w].Stored = func(ctx context.Context) (collect.Stored, error) {
			found, err := rollup.Recent(ctx)
			return collect.Stored(found), err
		}
	}
	return collect.Assemble(p)
}
