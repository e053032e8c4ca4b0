package sqlstore

import (
	"cmp"
	"time"

	"vayu/internal/config"
)

// Settings are the operator's settings of a store. A timeout in the DSN takes precedence over the same setting
// here.
type Settings struct {
	// Connections limits the readers (SQLite) or connections (PostgreSQL) of one instance.
	Connections int `yaml:"connections" help:"connections to PostgreSQL, or readers of SQLite, at most"`
	// StatementTimeout makes the server cancel a statement. A client waits 10 s at most, and no lock should be
	// held longer. SQLite has no server; its readers use the same limit.
	StatementTimeout time.Duration `yaml:"statement-timeout" help:"after which PostgreSQL ends a statement; half a second more for a reader of either store"`
	// LockTimeout makes the server cancel a statement that waits for a lock; 0 leaves it to StatementTimeout.
	LockTimeout time.Duration `yaml:"lock-timeout" help:"after which PostgreSQL ends a statement that waits for a lock; 0 for statement-timeout"`
	// IdleTimeout makes the server end a transaction whose client hangs, because its locks block all others.
	IdleTimeout time.Duration `yaml:"idle-timeout" help:"after which PostgreSQL ends a transaction whose client hangs"`
}

// answerSlack is how much longer than StatementTimeout the client waits for a connection or an answer. So a
// working server can cancel the statement and report its own error first. The client's limit is for a server
// or network that hangs. A change of several statements is abandoned after three times StatementTimeout.
const answerSlack = 500 * time.Millisecond

// DefaultSettings are 16 connections, so that six instances fit into PostgreSQL's default of 100. A statement
// has 10 seconds, as long as a client waits, and an idle transaction 30.
func DefaultSettings() Settings {
	return Settings{Connections: 16, StatementTimeout: 10 * time.Second, IdleTimeout: 30 * time.Second}
}

// Validate returns the settings that are out of range. It implements config.Validator.
func (s Settings) Validate() []error {
	var faults []error
	if s.Connections < 1 {
		faults = append(faults, config.Invalid("connections", "must be at least 1"))
	}
	if s.StatementTimeout < 100*time.Millisecond {
		faults = append(faults, config.Invalid("statement-timeout", "must be at least 100ms"))
	}
	if s.IdleTimeout < time.Second {
		faults = append(faults, config.Invalid("idle-timeout", "must be at least 1s"))
	}
	if s.LockTimeout < 0 || s.LockTimeout > s.StatementTimeout {
		faults = append(faults, config.Invalid("lock-timeout", "must be between 0 and statement-timeout"))
	}
	return faults
}

// withDefaults replaces zero values with the defaults.
func (s Settings) withDefaults() Settings {
	d := DefaultSettings()
	s.Connections = cmp.Or(s.Connections, d.Connections)
	s.StatementTimeout = cmp.Or(s.StatementTimeout, d.StatementTimeout)
	s.IdleTimeout = cmp.Or(s.IdleTimeout, d.IdleTimeout)
	return s
}
