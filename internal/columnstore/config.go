package columnstore

import (
	"time"

	"vayu/internal/config"
)

// Config selects a ClickHouse: a server by DSN, or the embedded engine in a data directory. The tagged fields are
// settings under the key "engine"; the program sets the others.
type Config struct {
	// DSN of a server or cluster; empty for the embedded engine.
	DSN config.DSN `yaml:"-"`
	// CA is a PEM file of authorities that are trusted besides the system's, for a DSN with TLS.
	CA string `yaml:"-"`
	// Cluster is the server's cluster name; with it the tables are replicated and distributed.
	Cluster string `yaml:"-"`
	// Data is the directory of the embedded engine. Only one engine can use it at a time.
	Data string `yaml:"-"`
	// Library is the path of libchdb. If empty, it is searched in the folder of the executable, and in node_modules
	// there and in parent folders.
	Library string `yaml:"library" help:"path of the ClickHouse engine's library, libchdb"`
	// Port is the engine's preferred port on 127.0.0.1. If it is in use, or 0, any free port is used; DIR/engine.port
	// has the address.
	Port int `yaml:"port" help:"port of the embedded ClickHouse engine on 127.0.0.1; any free port if it is in use"`
	// MaxMemory limits the memory of one query of the embedded engine, unless it sets max_memory_usage; 0 means no
	// limit.
	MaxMemory config.Size `yaml:"max-memory" help:"memory that one query of the embedded engine may use"`
	// MaxTime limits the duration of one query of the embedded engine, unless it sets max_execution_time; 0 means no
	// limit.
	MaxTime time.Duration `yaml:"max-time" help:"how long one query of the embedded engine may run"`
	// Connections limits the concurrent queries of the process.
	Connections int `yaml:"connections" help:"queries sent to ClickHouse at once"`
	// File is a ClickHouse configuration file for the embedded engine, for example with disks and storage policies.
	File string `yaml:"config" help:"configuration file in ClickHouse's own form for the embedded engine, such as one with storage policies"`
	// Storage is the retention and placement of rows, on the embedded engine, a server or a cluster.
	Storage Storage `yaml:"storage"`
	// Share uses an engine that already runs in Data, for a command during normal operation. If none runs, the
	// command starts its own.
	Share bool `yaml:"-"`
	// ReadyTimeout limits how long a command, which sets Share, waits for a server; 0 means 20 seconds.
	ReadyTimeout time.Duration `yaml:"-"`
	// Command starts the engine's process. Empty: this executable with the argument "engine".
	Command []string `yaml:"-"`
	// Environment is added to that of the engine's process, as "NAME=value".
	Environment []string `yaml:"-"`
}

// Default is the embedded engine on ClickHouse's port. A yearly roll-up needs under 3 GB, so a query may use 4 GiB.
// Half an hour is forty times the target duration of a roll-up. 16 connections keep two cores busy while some wait
// for the disk.
func Default() Config {
	return Config{Port: 8123, MaxMemory: 4 * config.GiB, MaxTime: 30 * time.Minute, Connections: 16, Storage: Storage{ColdVolume: "cold"}}
}

// Validate reports all errors at once, each with its key.
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
