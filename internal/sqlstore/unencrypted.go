package sqlstore

import (
	"slices"

	"github.com/jackc/pgx/v5"

	"vayu/internal/config"
)

// UnencryptedHosts are the remote hosts of the DSN to which passwords and rows may travel unencrypted; none for
// SQLite. Without sslmode PostgreSQL's clients prefer TLS, and fall back to plain text when the server, or an
// attacker between, offers none.
func (c Config) UnencryptedHosts() []string {
	if c.DSN == "" {
		return nil
	}
	cfg, err := pgx.ParseConfig(string(c.DSN))
	if err != nil { // Open reports it
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
