package monitor

import (
	"context"
	"log/slog"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/leader"
	"vayu/internal/lifecycle"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

// GroupConfig configures a Group.
type GroupConfig struct {
	DB       *sqlstore.DB
	Conn     driver.Conn
	Local    bool // each instance has its own ClickHouse
	Stores   Stores
	Events   Events
	Accounts Operators
	// Limits returns the limits of each source that this configuration collects in a world.
	Limits  func(schema.World) (map[string]Limits, error)
	Log     *slog.Logger
	Metrics prometheus.Registerer
}

// Group has the monitors of both worlds (live and sandbox).
type Group struct {
	GroupConfig

	monitors []*Monitor
}

// NewGroup returns the monitors of both worlds. It panics if a metric is already registered.
func NewGroup(c GroupConfig) (*Group, error) {
	g := &Group{GroupConfig: c}
	metrics := NewMetrics(c.Metrics)
	for _, w := range schema.Worlds {
		limits, err := c.Limits(w)
		if err != nil {
			return nil, err
		}
		g.monitors = append(g.monitors, New(Config{
			Conn: c.Conn, Database: schema.OpsDatabase, World: w, Store: c.Stores[w], Events: c.Events,
			Accounts: c.Accounts, Limits: limits, Metrics: metrics, Log: c.Log.With("world", w), Now: time.Now,
		}))
	}
	return g, nil
}

// Run checks the sources while this instance is the leader, until ctx ends. Run first calls `ready`, which waits until
// the tables exist.
func (g *Group) Run(ctx context.Context, ready func(context.Context) error) error {
	if err := ready(ctx); err != nil {
		return nil //nolint:nilerr // the service stops
	}
	leading := leader.Config{DB: g.DB, Name: "monitor", Local: g.Local, Log: g.Log, Metrics: g.Metrics}
	return leader.Run(ctx, leading, func(ctx context.Context, _ leader.Fence) error {
		var parts []lifecycle.Part
		for _, m := range g.monitors {
			parts = append(parts, lifecycle.Part{Name: "monitor of the " + m.World.String() + " world", Run: m.Run})
		}
		return lifecycle.Run(ctx, g.Log, parts...)
	})
}
