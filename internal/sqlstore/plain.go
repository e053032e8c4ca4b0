package sqlstore

import (
	"slices"

	"github.com/jackc/pgx/v5"

	"vayu/internal/config"
)

// Plain are the hosts of the DSN, beyond this machine, to which passwords and rows may
// travel unencrypted; none for SQLite. Without sslmode PostgreSQL's clients prefer
// TLS, and do without where the server, or somebody in between, says that it has none.
func (c Config) Plain() []string {
	if c.DSN == "" {
		return nil
	}
	cfg, err := pgx.ParseConfig(string(c.DSN))
	if err != nil { // who opens it says so
		return nil
	}
	var hosts []string
	add := func(host string, plain bool) {
		if plain && !config.Local(host) && !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	add(cfg.Host, cfg.TLSConfig == nil)
	for _, other := range cfg.Fallbacks {
		add(other.Host, other.TLSConfig == nil)
	}
	return hosts
}
