package collect

import (
	"context"
	"log/slog"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus"

	"vayu/ingest/backfill"
	"vayu/ingest/journal"
	"vayu/ingest/loader"
	"vayu/ingest/progress"
	"vayu/ingest/runner"
	"vayu/ingest/source"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

// Parts are the parts of which [Assemble] makes a collector. All fields are required.
type Parts struct {
	State     *sqlstore.DB // progress, leases, call budgets and backfills
	Conn      driver.Conn  // connection to ClickHouse
	Catalogue *source.Catalogue
	// Embedded means that ClickHouse runs as a child process of this instance. Data is then the data directory of this
	// instance.
	Embedded bool
	Data     string
	// Sources returns the names of the sources of a world to collect. For a command that only works on backfills, it
	// returns no names.
	Sources  func(schema.World) []string
	RollUps  [len(schema.Worlds)]RollUp
	Log      *slog.Logger
	Registry prometheus.Registerer
}

// RollUp has two functions of one world. Run computes hourly and daily values. Stored describes recent readings.
type RollUp struct {
	// [Assemble] copies Run to [World.RollUp], and Stored to [World.Stored].
	Run    func(ctx context.Context) error
	Stored func(ctx context.Context) (Stored, error)
}

// Assemble creates a collector of both worlds. An invalid source is an error.
func Assemble(p Parts) (*Collector, error) {
	local, err := progress.Local(p.State, p.Embedded, p.Data)
	if err != nil {
		return nil, err
	}
	p.Catalogue.KeepCalls(progress.Calls(p.State, time.Now))
	c := Config{DB: p.State, Local: local, Metrics: runner.NewMetrics(p.Registry), Backfill: backfill.NewMetrics(p.Registry), Registry: p.Registry, Log: p.Log}
	if !p.Embedded && p.State.Name() != "sqlite" {
		c.Place = func(ctx context.Context) (id string, err error) {
			// The table `migration` has the same UUID on all nodes of a cluster, so it identifies the cluster.
			err = p.Conn.QueryRow(ctx, "SELECT toString(uuid) FROM system.tables WHERE database = '"+schema.Live.Database()+"' AND name = 'migration'").Scan(&id)
			return id, err
		}
	}
	for _, w := range schema.Worlds {
		scope := progress.Scope(w, local)
		c.Worlds = append(c.Worlds, World{
			World: w, Sources: p.Sources(w), Knows: p.Catalogue.Has,
			Feed:    func(name string) (runner.Feed, error) { return p.Catalogue.Feed(w, name, time.Now) },
			Stream:  p.Catalogue.Stream,
			Archive: loader.New(p.Conn, w.Database()), Journal: journal.New(p.Conn, schema.OpsDatabase, w),
			Progress: progress.New(p.State, scope, time.Now), Backfills: backfill.New(p.State, scope, time.Now),
			RollUp: p.RollUps[w].Run, Stored: p.RollUps[w].Stored,
		})
	}
	return New(c)
}
