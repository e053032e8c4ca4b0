package columnar

import (
	"errors"
	"fmt"
	"time"
)

// Config says which ClickHouse to use: a server by DSN, or the embedded engine in a data directory.
type Config struct {
	// DSN of a server or cluster: clickhouse://user:password@host:9000/, http:// or https://. Empty: the embedded engine.
	DSN string `koanf:"dsn"`
	// Cluster is the server's cluster name; with it the tables are replicated and distributed.
	Cluster string `koanf:"cluster"`
	// Data is the directory of the embedded engine; it belongs to one engine at a time.
	Data string `koanf:"data"`
	// Library is the path of libchdb. Empty: beside the executable, then the node_modules above it and above the working directory.
	Library string `koanf:"library"`
	// Port is the engine's preferred port on 127.0.0.1. When it is taken, or 0, any free one is used; DIR/engine.port tells.
	Port int `koanf:"port"`
	// MaxMemory is how many bytes one query of the embedded engine may use, unless it sets max_memory_usage; 0 means no limit.
	MaxMemory int64 `koanf:"max_memory"`
	// MaxTime is how long one query of the embedded engine may run, unless it sets max_execution_time; 0 means no limit.
	MaxTime time.Duration `koanf:"max_time"`
	// MaxConnections is how many queries the process sends at once; 0 means 16.
	MaxConnections int `koanf:"max_connections"`
	// Share uses an engine that already runs in Data, for a command beside a running service; without one it starts its own.
	Share bool `koanf:"-"`
	// Command starts the engine's process. Empty: this executable with the argument "engine".
	Command []string `koanf:"-"`
	// Environment is added to that of the engine's process, as "NAME=value".
	Environment []string `koanf:"-"`
}

// Default is the embedded engine on ClickHouse's port. 4 GB a query is what the roll-up of a year needs (under 3 GB) with
// room; half an hour is ten times its target.
func Default() Config {
	return Config{Port: 8123, MaxMemory: 4 << 30, MaxTime: 30 * time.Minute, MaxConnections: 16}
}

// Validate reports every fault at once, each naming its key.
func (c Config) Validate() error {
	var faults []error
	add := func(key, format string, args ...any) {
		faults = append(faults, fmt.Errorf("%s: %s", key, fmt.Sprintf(format, args...)))
	}
	if c.DSN == "" && c.Data == "" {
		add("data", "the embedded engine needs a directory")
	}
	if c.DSN == "" && c.Cluster != "" {
		add("cluster", "the embedded engine is a single node; a cluster needs a dsn")
	}
	if c.Port < 0 || c.Port > 65535 {
		add("port", "%d is not a port", c.Port)
	}
	if c.MaxMemory < 0 {
		add("max_memory", "must not be negative")
	}
	if c.MaxTime < 0 {
		add("max_time", "must not be negative")
	}
	if c.MaxConnections < 0 {
		add("max_connections", "must not be negative")
	}
	return errors.Join(faults...)
}
