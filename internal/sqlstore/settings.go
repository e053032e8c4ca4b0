package sqlstore

import (
	"cmp"
	"time"

	"vayu/internal/config"
)

// Settings are the operator's settings of a store. A timeout in the DSN takes precedence over the timeout in Settings.
type Settings struct {
	// Connections limits the readers (SQLite) or the connections (PostgreSQL) of one instance.
	Connections int `yaml:"connections" help:"connections to PostgreSQL, or readers of SQLite, at most"`
	// StatementTimeout is the time after which the server cancels a statement. The default, 10 s, is the longest time
	// that a client waits, and no lock should be held longer. In SQLite, only readers have this limit.
	StatementTimeout time.Duration `yaml:"statement-timeout" help:"after which PostgreSQL ends a statement; half a second more for a reader of either store"`
	// LockTimeout limits a statement's wait for a lock; 0 leaves the limit to StatementTimeout.
	LockTimeout time.Duration `yaml:"lock-timeout" help:"after which PostgreSQL ends a statement that waits for a lock; 0 for statement-timeout"`
	// IdleTimeout limits how long a transaction may be idle, because its locks block other changes.
	IdleTimeout time.Duration `yaml:"idle-timeout" help:"after which PostgreSQL ends a transaction whose client hangs"`
}

// answerSlack is how much longer than StatementTimeout this program waits for a connection or an answer. So a working
// server can first cancel the statement and report its own error. This program's limit is for a server or network that
// hangs. A change of several statements has a limit of its own, Config.ChangeTimeout.
const answerSlack = 500 * time.Millisecond

// DefaultSettings returns the default settings. With 16 connections, six instances fit into PostgreSQL's
// default of 100. StatementTimeout is 10 seconds, a client's longest wait.
func DefaultSettings() Settings {
	return Settings{Connections: 16, StatementTimeout: 10 * time.Second, IdleTimeout: 30 * time.Second}
}

// Validate returns an error for each setting that is out of range. It implements config.Validator.
func (s Settings) Validate() []error {
	var f config.Faults
	f.Check(s.Connections >= 1, "connections", "must be at least 1")
	f.Check(s.StatementTimeout >= 100*time.Millisecond, "statement-timeout", "must be at least 100ms")
	f.Check(s.IdleTimeout >= time.Second, "idle-timeout", "must be at least 1s")
	f.Check(s.LockTimeout >= 0 && s.LockTimeout <= s.StatementTimeout, "lock-timeout", "must be between 0 and statement-timeout")
	return f
}

func (s Settings) withDefaults() Settings {
	d := DefaultSettings()
	s.Connections = cmp.Or(s.Connections, d.Connections)
	s.StatementTimeout = cmp.Or(s.StatementTimeout, d.StatementTimeout)
	s.IdleTimeout = cmp.Or(s.IdleTimeout, d.IdleTimeout)
	return s
}
