package server

import (
	"slices"

	"github.com/jackc/pgx/v5"

	"vayu/internal/config"
)

// UnencryptedHosts returns the remote hosts of a DSN to which passwords and rows may travel unencrypted. An empty DSN
// (SQLite) has none. Without sslmode PostgreSQL's clients prefer TLS, but fall back to plain text if the server does
// not offer TLS. An attacker on the network can cause the fallback too.
func UnencryptedHosts(dsn config.DSN) []string {
	if dsn == "" {
		return nil
	}
	cfg, err := pgx.ParseConfig(string(dsn))
	if err != nil { // the opening of the store reports the error
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
