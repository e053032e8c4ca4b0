// Package collect collects the readings of all sources, and has them rolled up. Several instances share the sources:
// each source has a lease. One of them is the leader of the roll-up.
package collect

import (
	"context"
	"errors"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"vayu/ingest"
	"vayu/ingest/runner"
	"vayu/ingest/share"
	"vayu/ingest/source/described"
	"vayu/ingest/stream"
	"vayu/internal/leader"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

// Config configures a Collector. All fields are required.
type Config struct {
	// DB has the leases of sources, and of the leader of the roll-up.
	DB *sqlstore.DB
	// Local means that this instance has readings of its own, and collects all sources by itself.
	Local    bool
	Worlds   []World
	Metrics  *runner.Metrics
	Registry prometheus.Registerer
	Log      *slog.Logger
}

// World is what a collector needs of a world (live or sandbox).
type World struct {
	schema.World
	// Sources are the names of the sources to collect.
	Sources []string
	// Feed returns a source with its schedule. A source may omit readings that an earlier fetch accepted, so each term
	// of collection gets a new one.
	Feed func(name string) (runner.Feed, error)
	// Stream returns the description of a source that receives messages, nil for one that fetches.
	Stream   func(name string) (*described.Description, error)
	Archive  runner.Archive
	Journal  runner.Journal
	Progress runner.ProgressStore
	// RollUp computes the hours and days of new readings, and refreshes the answers in memory.
	RollUp func(ctx context.Context) error
	// Stored describes the recently stored readings of all sources. It differs after new readings.
	Stored func(ctx context.Context) (Stored, error)
}

// Stored describes the readings that were stored within the last minutes.
type Stored struct {
	Newest int64 // when the latest was stored, Unix milliseconds; 0 for none
	Count  uint64
}

// after reports whether readings were stored after an earlier description.
func (s Stored) after(earlier Stored) bool {
	return s.Newest > earlier.Newest || s.Count > earlier.Count
}

// Collector collects the sources of all worlds.
type Collector struct {
	Config

	rollUps map[schema.World]*rollUp
	streams *stream.Metrics
}

// New checks the configuration of all sources, and returns a collector. It starts nothing. The error joins the faults of
// all sources.
func New(c Config) (*Collector, error) {
	collector := &Collector{Config: c, rollUps: make(map[schema.World]*rollUp), streams: stream.NewMetrics(c.Registry, c.Metrics)}
	var faults []error
	for _, w := range c.Worlds {
		collector.rollUps[w.World] = newRollUp(w, c.Log.With("world", w.World))
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

// Run collects this instance's share of the sources, and rolls up if it leads, until ctx ends.
func (c *Collector) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		return leader.Run(ctx, leader.Config{DB: c.DB, Name: "rollup", Local: c.Local, Log: c.Log, Metrics: c.Registry}, c.leadRollUp)
	})
	g.Go(func() error {
		return share.Run(ctx, share.Config{DB: c.DB, Group: "source", Local: c.Local, Jobs: c.jobs, Log: c.Log, Metrics: c.Registry})
	})
	return g.Wait()
}

// leadRollUp rolls up the readings of all worlds until ctx ends.
func (c *Collector) leadRollUp(ctx context.Context, _ leader.Fence) error {
	var g errgroup.Group
	for _, one := range c.rollUps {
		g.Go(func() error {
			one.run(ctx)
			return nil
		})
	}
	return g.Wait()
}

// jobs returns the jobs that instances share: one for each source.
func (c *Collector) jobs(context.Context) ([]share.Job, error) {
	var all []share.Job
	for _, w := range c.Worlds {
		for _, name := range w.Sources {
			all = append(all, share.Job{Name: w.World.String() + "/" + name, Run: func(ctx context.Context, fence leader.Fence, quit <-chan struct{}) error {
				d, err := w.Stream(name)
				if err != nil {
					return err
				}
				if d != nil {
					return c.receive(ctx, w, d, fence, quit)
				}
				r, err := c.newRunner(w, name, fence, quit)
				if err != nil {
					return err
				}
				defer r.ResetMetrics() // another instance collects the source then, and these metrics must not cause alerts
				return r.Run(ctx)
			}})
		}
	}
	return all, nil
}

func (c *Collector) newRunner(w World, name string, fence leader.Fence, quit <-chan struct{}) (*runner.Runner, error) {
	feed, err := w.Feed(name)
	if err != nil {
		return nil, err
	}
	return runner.New(runner.Config{
		Archive: &fencedArchive{w.Archive, fence}, Journal: w.Journal, Progress: w.Progress, OnChange: c.rollUps[w.World].changed,
		Quit: quit, Metrics: c.Metrics, Log: c.Log.With("world", w.World),
	}, feed)
}

// fencedArchive is an archive that stores readings only while this instance has the lease of the source.
type fencedArchive struct {
	runner.Archive

	fence leader.Fence // checks that this instance still has the lease
}

// Load stores a batch if this instance still has the lease. It overrides the method of [runner.Archive].
func (f *fencedArchive) Load(ctx context.Context, b *ingest.Batch) error {
	if err := f.fence(ctx); err != nil {
		return err
	}
	return f.Archive.Load(ctx, b)
}
