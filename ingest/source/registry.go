// Package source is the registry of all sources.
package source

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"vayu/ingest"
	"vayu/ingest/runner"
	"vayu/ingest/source/cpcb"
	"vayu/ingest/source/datagov"
	"vayu/ingest/source/file"
	"vayu/ingest/source/simulator"
	"vayu/schema"
)

// Config is the section `source` of the configuration, with one part per source.
type Config struct {
	CPCB      cpcb.Config      `yaml:"cpcb"`
	DataGov   datagov.Config   `yaml:"datagov"`
	File      file.Config      `yaml:"file"`
	Simulator simulator.Config `yaml:"simulator"`
}

// DefaultConfig returns the defaults of every source.
func DefaultConfig() Config {
	return Config{CPCB: cpcb.DefaultConfig(), DataGov: datagov.DefaultConfig(), File: file.DefaultConfig(), Simulator: simulator.DefaultConfig()}
}

// Factory is the configuration of one source, from which New builds the source.
type Factory interface {
	// New builds the source. name becomes the field Source of its readings, and clock
	// returns the current time. New neither connects nor starts anything.
	New(name string, clock func() time.Time) (ingest.Source, error)
}

// Entry is a source in the registry.
type Entry struct {
	// About is a short description of the source.
	About string
	// World is the world (live or sandbox) whose data the source provides.
	World schema.World
	// Factory returns the source's part of the configuration.
	Factory func(Config) Factory
	// Feed is the source's schedule; [Config.Feeds] sets its Name and Source.
	Feed runner.Feed
}

// Registry maps the names of all sources to their entries.
var Registry = map[string]Entry{
	"cpcb": {
		About:   "CPCB's live feed of about 500 stations, sub-indices, hourly, no key",
		Factory: func(c Config) Factory { return c.CPCB },
		// The feed changes once an hour at no fixed minute. Fetching an unchanged
		// feed costs only an empty reply.
		Feed: runner.Feed{Schedule: "*/20 * * * *", Jitter: 2 * time.Minute, Timeout: 5 * time.Minute},
	},
	"datagov": {
		About:   "the mirror of CPCB's feed on data.gov.in, sub-indices, needs a key, lags up to 10 h",
		Factory: func(c Config) Factory { return c.DataGov },
		Feed:    runner.Feed{Schedule: "25 * * * *", Jitter: 10 * time.Minute, Timeout: 20 * time.Minute, Lookback: 12 * time.Hour},
	},
	"file": {
		About:   "a watched folder of saved files",
		Factory: func(c Config) Factory { return c.File },
		Feed:    runner.Feed{Schedule: "@every 30s", Timeout: time.Hour}, // a file may hold years
	},
	simulator.Name: {
		About:   "simulated readings for the sandbox",
		World:   schema.Sandbox,
		Factory: func(c Config) Factory { return c.Simulator },
		Feed:    runner.Feed{Schedule: "0 * * * *", Jitter: 10 * time.Second, History: 60 * 24 * time.Hour, Lookback: time.Hour},
	},
}

// Names returns the names of the sources of a world, sorted.
func Names(world schema.World) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(Registry)) {
		if Registry[name].World == world {
			names = append(names, name)
		}
	}
	return names
}

// Parse parses a list of live sources from a flag: names separated by commas, or
// "none". It ignores blanks and duplicates. The error describes each invalid name
// and lists the known ones.
func Parse(list string) ([]string, error) {
	var names []string
	var faults []error
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		if name == "" || name == "none" || slices.Contains(names, name) {
			continue
		}
		if err := check(name, schema.Live); err != nil {
			faults = append(faults, err)
			continue
		}
		names = append(names, name)
	}
	if len(names) > 0 && strings.Contains(","+strings.ReplaceAll(list, " ", "")+",", ",none,") {
		faults = append(faults, errors.New(`"none" stands alone`))
	}
	if strings.TrimSpace(list) != "none" && len(names) == 0 && len(faults) == 0 {
		faults = append(faults, errors.New(`no source is named; "none" runs without one`))
	}
	if len(faults) > 0 {
		return nil, fmt.Errorf("reading the sources %q: %w (known: %s, or none)", list, errors.Join(faults...), strings.Join(Names(schema.Live), ", "))
	}
	return names, nil
}

// check returns an error unless the source exists and belongs to the world.
func check(name string, world schema.World) error {
	entry, known := Registry[name]
	switch {
	case !known:
		return fmt.Errorf("there is no source %q", name)
	case entry.World != world:
		return fmt.Errorf("source %q fills the %s world only", name, entry.World)
	}
	return nil
}

// New builds one source of either world.
func (c Config) New(name string, clock func() time.Time) (ingest.Source, error) {
	entry, known := Registry[name]
	if !known {
		all := slices.Sorted(maps.Keys(Registry))
		return nil, fmt.Errorf("there is no source %q (known: %s)", name, strings.Join(all, ", "))
	}
	return entry.Factory(c).New(name, clock)
}

// Feeds builds the named sources for the runner of a world. The error joins the errors
// of all names, including names of sources of the other world.
func (c Config) Feeds(world schema.World, names []string, clock func() time.Time) ([]runner.Feed, error) {
	var feeds []runner.Feed
	var faults []error
	for _, name := range names {
		if err := check(name, world); err != nil {
			faults = append(faults, err)
			continue
		}
		src, err := c.New(name, clock)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		feed := Registry[name].Feed
		feed.Name, feed.Source = name, src
		feeds = append(feeds, feed)
	}
	return feeds, errors.Join(faults...)
}
