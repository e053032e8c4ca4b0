// Package collect collects the readings of all sources and starts the roll-up, which computes hourly and daily values.
// Several instances share the sources: each source has a lease. One instance is the leader of the roll-up.
package collect

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"vayu/ingest"
	"vayu/ingest/backfill"
	"vayu/ingest/runner"
	"vayu/ingest/source/described"
	"vayu/ingest/stream"
	"vayu/internal/leader"
	"vayu/internal/share"
	"vayu/internal/sleep"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

// Config configures a Collector. All fields except Local and Place are required.
type Config struct {
	// DB is the state store. It has the leases of the sources, and the lease of the roll-up's leader.
	DB *sqlstore.DB
	// Local is the name of this instance if its readings are not shared with other instances. The instance then
	// collects all sources by itself. Local is "" if the instances share ClickHouse.
	Local string
	// Place returns an id of the ClickHouse server or cluster. All instances that share sources must have the same id.
	// Place is nil if this instance shares no sources.
	Place    func(ctx context.Context) (string, error)
	Worlds   []World
	Metrics  *runner.Metrics
	Backfill *backfill.Metrics
	Registry prometheus.Registerer
	Log      *slog.Logger
}

// World has the sources and stores of one world (live or sandbox).
type World struct {
	schema.World
	// Sources are the names of the sources to collect.
	Sources []string
	// Feed returns a new source with its schedule. The collector calls Feed each time this instance begins to collect
	// the source. A reused source might omit readings that an earlier fetch accepted.
	Feed func(name string) (runner.Feed, error)
	// Stream returns the source description (YAML) of a source that receives messages, or nil for a source that
	// fetches.
	Stream func(name string) (*described.Description, error)
	// Knows reports whether this instance has the configuration of a source, even of one that is not in Sources.
	Knows    func(name string) bool
	Archive  runner.Archive
	Journal  runner.Journal
	Progress ingest.ProgressStore
	// Backfills has the backfills of all configured sources, including those that are not in Sources.
	Backfills *backfill.Store
	// RollUp computes the hourly and daily values of new readings, and refreshes the snapshot in memory.
	RollUp func(ctx context.Context) error
	// Stored describes the recently stored readings of all sources, to detect new readings of other instances.
	Stored func(ctx context.Context) (Stored, error)
}

// Group is the name under which collectors share their jobs, see package share.
const Group = "source"

// placePause is the time between two attempts to read the id of ClickHouse.
const placePause = 5 * time.Second

// Collector collects the sources of all worlds.
type Collector struct {
	Config

	rollUps map[schema.World]*scheduler
	streams *stream.Metrics
}

// New checks the configuration of all sources, and returns a collector. It starts nothing. The error joins the errors
// of all sources.
func New(c Config) (*Collector, error) {
	collector := &Collector{Config: c, rollUps: make(map[schema.World]*scheduler), streams: stream.NewMetrics(c.Registry, c.Metrics)}
	var faults []error
	for _, w := range c.Worlds {
		collector.rollUps[w.World] = newScheduler(w, c.Log.With("world", w.World))
		for _, name := range w.Sources {
			d, err := w.Stream(name)
			if d == nil && err == nil {
				_, err = collector.newRunner(w, name, nil, nil)
			}
			faults = append(faults, err)
		}
	}
	return collector, errors.Join(faults...)
}

// Run collects this instance's share of the sources until ctx ends. If the instance is the leader of the roll-up, Run
// also rolls up.
func (c *Collector) Run(ctx context.Context) error {
	place := c.place(ctx)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		return leader.Run(ctx, leader.Config{DB: c.DB, Name: "rollup", Local: c.Local != "", Log: c.Log, Metrics: c.Registry}, c.leadRollUp)
	})
	g.Go(func() error {
		err := share.Run(ctx, share.Config{DB: c.DB, Group: Group, Local: c.Local, Place: place, Jobs: c.jobs, Log: c.Log, Metrics: c.Registry})
		if errors.Is(err, share.ErrPlace) {
			return fmt.Errorf("two ClickHouse servers or clusters share one state store, and each would get a part of the readings: %w. "+
				"Use the same --clickhouse, or another --state. To replace ClickHouse, first stop every instance with the role ingest", err)
		}
		return err
	})
	return g.Wait()
}

// place calls c.Place until it returns the id of ClickHouse. It returns "" if c.Place is nil, or if ctx ends first.
func (c *Collector) place(ctx context.Context) string {
	for c.Place != nil {
		id, err := c.Place(ctx)
		if err == nil {
			return id
		}
		c.Log.WarnContext(ctx, "reading the id of ClickHouse failed, retrying", "error", err)
		if !sleep.For(ctx, placePause) {
			break
		}
	}
	return ""
}

// Until collects until the function `follow` returns. It then rolls up a last time, unless collecting or `follow`
// failed. A command calls Until when no service is running.
func (c *Collector) Until(ctx context.Context, follow func(context.Context) error) error {
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		defer cancel()
		ended <- c.Run(running)
	}()
	err := follow(running)
	cancel()
	if failed := <-ended; failed != nil || err != nil {
		return errors.Join(failed, err)
	}
	for _, w := range c.Worlds {
		if err := w.RollUp(ctx); err != nil {
			return err
		}
	}
	return nil
}
