package columnstore

import (
	"time"

	"vayu/internal/config"
)

// Config says which ClickHouse to use: a server by DSN, or the embedded engine in a data directory. As settings its tagged
// fields belong under the key "engine"; the others are set by the program.
type Config struct {
	// DSN of a server or cluster; empty for the embedded engine.
	DSN config.DSN `koanf:"-"`
	// CA is a PEM file of authorities that are believed beside the system's, for a DSN with TLS.
	CA string `koanf:"-"`
	// Cluster is the server's cluster name; with it the tables are replicated and distributed.
	Cluster string `koanf:"-"`
	// Data is the directory of the embedded engine; it belongs to one engine at a time.
	Data string `koanf:"-"`
	// Library is the path of libchdb. Empty: beside the executable, then the node_modules above it and above the working directory.
	Library string `koanf:"library" help:"path of the ClickHouse engine's library, libchdb"`
	// Port is the engine's preferred port on 127.0.0.1. When it is taken, or 0, any free one is used; DIR/engine.port tells.
	Port int `koanf:"port" help:"port of the embedded ClickHouse engine on 127.0.0.1; any other when it is taken"`
	// MaxMemory is how much memory one query of the embedded engine may use, unless it sets max_memory_usage; 0 means no limit.
	MaxMemory config.Size `koanf:"max-memory" help:"memory that one query of the embedded engine may use"`
	// MaxTime is how long one query of the embedded engine may run, unless it sets max_execution_time; 0 means no limit.
	MaxTime time.Duration `koanf:"max-time" help:"how long one query of the embedded engine may run"`
	// Connections is how many queries the process sends at once.
	Connections int `koanf:"connections" help:"queries sent to ClickHouse at once"`
	// File is a configuration in ClickHouse's own form for the embedded engine, such as one with disks and storage policies.
	File string `koanf:"config" help:"configuration file in ClickHouse's own form for the embedded engine, such as one with storage policies"`
	// Storage is about the rows, wherever they are: on the embedded engine, a server or a cluster.
	Storage Storage `koanf:"storage"`
	// Share uses an engine that already runs in Data, for a command beside a running service; without one it starts its own.
	Share bool `koanf:"-"`
	// Patience is how long a command, which sets Share, waits for a server; 0 means 20 seconds.
	Patience time.Duration `koanf:"-"`
	// Command starts the engine's process. Empty: this executable with the argument "engine".
	Command []string `koanf:"-"`
	// Environment is added to that of the engine's process, as "NAME=value".
	Environment []string `koanf:"-"`
}

// Default is the embedded engine on ClickHouse's port. 4 GiB a query is what the roll-up of a year needs (under 3 GB) with
// room; half an hour is forty times its target. 16 connections keep two cores busy while some wait for the disk.
func Default() Config {
	return Config{Port: 8123, MaxMemory: 4 * config.GiB, MaxTime: 30 * time.Minute, Connections: 16, Storage: Storage{ColdVolume: "cold"}}
}

// Validate reports every fault at once, each naming its key.
func (c Config) Validate() []error {
	var faults []error
	if c.Port < 0 || c.Port > 65535 {
		faults = append(faults, config.Invalid("port", "%d is not a port", c.Port))
	}
	if c.MaxTime < 0 {
		faults = append(faults, config.Invalid("max-time", "must not be negative"))
	}
	if c.Connections < 1 {
		faults = append(faults, config.Invalid("connections", "must be at least 1"))
	}
	return faults
}
