// Package source has the catalogue of all sources: those written in Go, and those that a description (YAML) defines.
package source

import (
	"time"

	"vayu/ingest"
	"vayu/ingest/runner"
	"vayu/ingest/source/cpcb"
	"vayu/ingest/source/datagov"
	"vayu/ingest/source/described"
	"vayu/ingest/source/file"
	"vayu/ingest/source/simulator"
	"vayu/schema"
)

// Config is the section `source` of the configuration. It has one part for each source that is implemented in Go.
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
	// New builds the source. `name` becomes the field Source of its readings. The function `clock` returns the present
	// time. New neither connects nor starts anything.
	New(name string, clock func() time.Time) (ingest.Source, error)
}

// Entry is a source of the catalogue.
type Entry struct {
	// About is a short description of the source.
	About string
	// World is the world (live or sandbox) to which the source's data belongs.
	World schema.World
	// Factory returns the part of a configuration that configures the source, and that can build it.
	Factory func(Config) Factory
	// Feed is the source's schedule. [Catalogue.Feed] sets its fields Name, Source and ConfigSHA256.
	Feed runner.Feed
	// File is the description of the source, or nil for a source in Go.
	File *described.File
	// Stream is true for a source that receives messages and has no schedule.
	Stream bool
	// Fault is the error of an invalid description, or nil for a valid one.
	Fault error
}

// Registry maps the names of the sources in Go to their entries.
var Registry = map[string]Entry{
	"cpcb": {
		About:   "CPCB's live feed of about 500 stations, sub-indices, hourly, no key",
		Factory: func(c Config) Factory { return c.CPCB },
		// The feed changes once an hour, at no fixed minute. While it is unchanged, a fetch gets an empty reply, so
		// frequent fetches are cheap.
		Feed: runner.Feed{Schedule: "*/20 * * * *", Jitter: 2 * time.Minute, Timeout: 5 * time.Minute},
	},
	"datagov": {
		About:   "the mirror of CPCB's feed on data.gov.in, sub-indices, needs a key, lags up to 10 h",
		Factory: func(c Config) Factory { return c.DataGov },
		Feed:    runner.Feed{Schedule: "25 * * * *", Jitter: 10 * time.Minute, Timeout: 20 * time.Minute, Lookback: 12 * time.Hour, MaxSilence: 16 * time.Hour},
	},
	"file": {
		About:   "a watched folder of saved files",
		Factory: func(c Config) Factory { return file.Watched{Config: c.File} },          // Open adds the formats that descriptions define
		Feed:    runner.Feed{Schedule: "@every 30s", Timeout: time.Hour, MaxSilence: -1}, // one file may have the readings of years
	},
	simulator.Name: {
		About:   "simulated readings for the sandbox",
		World:   schema.Sandbox,
		Factory: func(c Config) Factory { return c.Simulator },
		// Open sets Feed.History from the configuration of the simulator.
		Feed: runner.Feed{Schedule: "0 * * * *", Jitter: 10 * time.Second, AnyWindow: true, Lookback: time.Hour},
	},
}
