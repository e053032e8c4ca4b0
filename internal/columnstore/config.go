package columnstore

import (
	"regexp"
	"time"

	"vayu/internal/config"
)

// Config selects a ClickHouse: a server or cluster by DSN, or the embedded engine in a data directory. Fields with a
// yaml name are settings under the key "engine". The program sets the other fields.
type Config struct {
	// DSN is the address of a server or cluster. If it is empty, the embedded engine is used.
	DSN config.DSN `yaml:"-"`
	// AnalystDSN is DSN with the user and password of an analyst. If it is set, `vayu sql` uses it.
	AnalystDSN config.DSN `yaml:"-"`
	// CA is a PEM file of certificate authorities that a DSN with TLS trusts, besides the system's authorities.
	CA string `yaml:"-"`
	// Cluster is the name of the cluster in ClickHouse's configuration. It is empty for a single node.
	Cluster string `yaml:"-"`
	// Data is the directory of the embedded engine. Only one engine can use it at a time.
	Data string `yaml:"-"`
	// Library is the path of libchdb. If it is empty, the program searches the folder of the executable,
	// node_modules in that folder, and node_modules in the parent folder.
	Library string `yaml:"library" help:"path of the ClickHouse engine's library, libchdb"`
	// Port is the engine's preferred port on 127.0.0.1. If Port is 0 or in use, the engine takes any free port. The
	// file engine.port in Data has the address.
	Port int `yaml:"port" help:"port of the embedded ClickHouse engine on 127.0.0.1; any free port if it is in use"`
	// MaxMemory limits the memory of a query of the embedded engine that does not set max_memory_usage. 0 means no
	// limit.
	MaxMemory config.Size `yaml:"max-memory" help:"memory that one query of the embedded engine may use"`
	// MaxTime limits the duration of a query of the embedded engine that does not set max_execution_time. 0 means no
	// limit.
	MaxTime time.Duration `yaml:"max-time" help:"how long one query of the embedded engine may run"`
	// Connections limits the concurrent queries of this process. Queries on [DB.Reserved] are not counted.
	Connections int `yaml:"connections" help:"queries sent to ClickHouse at once"`
	// File is a ClickHouse configuration file for the embedded engine, for example with disks and storage policies.
	File string `yaml:"config" help:"configuration file in ClickHouse's own form for the embedded engine, such as one with storage policies"`
	// Analysts limits the user analyst of the embedded engine.
	Analysts Analysts `yaml:"analysts"`
	// Listen is a further address of the embedded engine, for analysts of other machines.
	Listen Listen `yaml:"listen"`
	// Readable has the databases that the user analyst can read, except for their tables in Private.
	Readable, Private []string `yaml:"-"`
	// Storage configures the retention and placement of rows, on the embedded engine, a server or a cluster.
	Storage Storage `yaml:"storage"`
	// Share lets a command use the engine that a service already runs in the directory Data. If no engine runs there,
	// the command starts one.
	Share bool `yaml:"-"`
	// Guest is set, with Share, for a command that may be idle for hours. Once the command has used the engine of a
	// service, it never starts an engine, because the data directory must be free when the service restarts.
	Guest bool `yaml:"-"`
	// ReadyTimeout limits how long a command (Share is set) waits for a server. If it is 0, the limit is 20 seconds.
	ReadyTimeout time.Duration `yaml:"-"`
	// Command is the command line of the engine's process. If it is empty, it is this executable with the argument
	// "engine".
	Command []string `yaml:"-"`
	// Environment has additional variables of the engine's process, as "NAME=value". The process also gets a few variables
	// of this process, such as TZ.
	Environment []string `yaml:"-"`
}

// Default returns the configuration of the embedded engine on ClickHouse's port. A yearly roll-up needs less than
// 3 GB, so a query may use 4 GiB. MaxTime, 30 minutes, is forty times the target duration of a roll-up. 16
// connections keep two cores busy while some queries wait for the disk.
func Default() Config {
	return Config{Port: 8123, MaxMemory: 4 * config.GiB, MaxTime: 30 * time.Minute, Connections: 16, Analysts: DefaultAnalysts(), Storage: Storage{ColdVolume: "cold"}}
}

// Validate returns an error for each wrong setting, with the setting's key.
func (c Config) Validate() []error {
	var f config.Faults
	f.Check(c.Port >= 0 && c.Port <= 65535, "port", "%d is not a port", c.Port)
	f.Check(c.MaxTime >= 0, "max-time", "must not be negative")
	f.Check(c.Connections >= 1, "connections", "must be at least 1")
	f.Check(c.Analysts.MaxMemory >= 0 && c.Analysts.MaxTime >= 0 && c.Analysts.MaxRows >= 0 && c.Analysts.MaxQueries >= 0 && c.Analysts.MaxTemporary >= 0,
		"analysts", "no limit may be negative")
	return f
}

// Storage is the retention and placement of rows. Its durations are whole hours, counted from the end of a row's
// interval. The age of an imported row therefore does not depend on the time of the import.
type Storage struct {
	// KeepReadings is the retention of readings. 0 keeps them for ever.
	KeepReadings time.Duration `yaml:"keep-readings" help:"how long readings are kept; 0 for ever"`
	// KeepHours is the retention of hourly rows of stations and cities; 0 keeps them for ever. Daily rows are never
	// deleted.
	KeepHours time.Duration `yaml:"keep-hours" help:"how long the hours of stations and cities are kept; 0 for ever"`
	// Policy names the storage policy of the tables, which ClickHouse's own configuration defines. If it is empty, the
	// tables have the default policy.
	Policy string `yaml:"policy" help:"storage policy of the tables, defined in the configuration of ClickHouse; empty for its default"`
	// ColdAfter is the age at which readings and hourly rows move to ColdVolume. 0 means that they never move.
	ColdAfter time.Duration `yaml:"cold-after" help:"after how long readings and hours move to the cold volume; 0 for never"`
	// ColdVolume is the volume of Policy to which old rows move.
	ColdVolume string `yaml:"cold-volume" help:"volume of the storage policy for old rows"`
}

// minKeep is the shortest retention. It leaves a margin for a roll-up, which reads 30 hours back, and for a feed
// that catches up after days without data.
const minKeep = 7 * 24 * time.Hour

var storageName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// Validate returns an error for each setting that is wrong or contradicts another. It implements config.Validator.
func (s Storage) Validate() []error {
	var f config.Faults
	for key, d := range map[string]time.Duration{"keep-readings": s.KeepReadings, "keep-hours": s.KeepHours} {
		f.Check(d == 0 || d >= minKeep, key, "must be 0 or at least %s", minKeep)
	}
	for key, d := range map[string]time.Duration{"keep-readings": s.KeepReadings, "keep-hours": s.KeepHours, "cold-after": s.ColdAfter} {
		f.Check(d >= 0 && d%time.Hour == 0, key, "must be whole hours")
	}
	f.Check(s.Policy == "" || storageName.MatchString(s.Policy), "policy", "%q is not the name of a storage policy", s.Policy)
	f.Check(s.ColdAfter == 0 || s.Policy != "", "policy", "cold-after needs a storage policy that has the volume")
	f.Check(s.ColdAfter == 0 || storageName.MatchString(s.ColdVolume), "cold-volume", "%q is not the name of a volume", s.ColdVolume)
	return f
}
