package forecast

import (
	"context"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"vayu/internal/leader"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

// Job issues the forecasts of both worlds (live and sandbox) while this instance leads.
type Job struct {
	lease leader.Config
	all   []*Forecaster
}

// NewJob returns a Job. It computes nothing yet. If local is true, ClickHouse is the engine of this instance, and the
// job needs no lease in the state store.
func NewJob(st *sqlstore.DB, conn Conn, local bool, log *slog.Logger, reg prometheus.Registerer) (*Job, error) {
	j := &Job{lease: leader.Config{DB: st, Name: "forecast", Local: local, Log: log, Metrics: reg}}
	for _, w := range schema.Worlds {
		f, err := New(conn, w.Database(), log, reg)
		if err != nil {
			return nil, err
		}
		j.all = append(j.all, f)
	}
	return j, nil
}

// Run issues forecasts while this instance leads, until ctx ends.
func (j *Job) Run(ctx context.Context) error {
	return leader.Run(ctx, j.lease, func(ctx context.Context, _ leader.Fence) error {
		var g errgroup.Group
		for _, f := range j.all {
			g.Go(func() error { return f.Run(ctx) })
		}
		return g.Wait()
	})
}
