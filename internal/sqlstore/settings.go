package sqlstore

import (
	"cmp"
	"strconv"
	"time"

	"vayu/internal/config"
)

// Settings are what an operator may choose of a store. A parameter of the same meaning in the DSN goes before a time here.
type Settings struct {
	// Connections is how many readers (SQLite) or connections (PostgreSQL) one instance has at most.
	Connections int `koanf:"connections" help:"connections to PostgreSQL, or readers of SQLite, at most"`
	// StatementTimeout is the server's own end of a statement: a client waits for 10 s at most, and a lock behind it no longer.
	// SQLite has no server, and its readers give up when PostgreSQL's would.
	StatementTimeout time.Duration `koanf:"statement-timeout" help:"after which PostgreSQL ends a statement; half a second more for a reader of either store"`
	// LockTimeout is the server's own end of waiting for a lock; 0 for none but StatementTimeout.
	LockTimeout time.Duration `koanf:"lock-timeout" help:"after which PostgreSQL ends a statement that waits for a lock; 0 for statement-timeout"`
	// IdleTimeout is the server's end of a transaction whose client hangs: its locks are in the way of all others.
	IdleTimeout time.Duration `koanf:"idle-timeout" help:"after which PostgreSQL ends a transaction whose client hangs"`
}

// answerSlack is how much longer than StatementTimeout the client waits, for a
// connection or for an answer: a server that hangs, or a network that swallows
// everything, does not end a statement. Where the server still works it is the one
// to say why. A change, which is some statements, is given up after three times
// StatementTimeout.
const answerSlack = 500 * time.Millisecond

// DefaultSettings are 16 connections, so that six instances fit into the 100 that PostgreSQL has by default; 10 seconds for a
// statement, for which a client waits, and 30 for a client that hangs.
func DefaultSettings() Settings {
	return Settings{Connections: 16, StatementTimeout: 10 * time.Second, IdleTimeout: 30 * time.Second}
}

// Validate implements config.Validator.
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

// filled puts the defaults where nothing is said.
func (s Settings) filled() Settings {
	d := DefaultSettings()
	s.Connections = cmp.Or(s.Connections, d.Connections)
	s.StatementTimeout = cmp.Or(s.StatementTimeout, d.StatementTimeout)
	s.IdleTimeout = cmp.Or(s.IdleTimeout, d.IdleTimeout)
	return s
}

// milliseconds is a time as PostgreSQL takes it.
func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
