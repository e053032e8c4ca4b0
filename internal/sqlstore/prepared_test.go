package sqlstore

import (
	"database/sql"
	"path/filepath"
	"testing"

	"vayu/internal/sqlstore/connection"
)

// BenchmarkPrepared compares a cached prepared statement with one that is prepared at every call. A change
// has three or more statements.
func BenchmarkPrepared(b *testing.B) {
	for name, prepared := range map[string]bool{"kept": true, "each": false} {
		b.Run(name, func(b *testing.B) {
			db, err := sql.Open("sqlite", sqliteDSN(filepath.Join(b.TempDir(), fileName)))
			if err != nil {
				b.Fatal(err)
			}
			defer db.Close()
			conn, err := db.Conn(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			kept := connection.NewPrepared(conn)
			defer kept.Close()
			var on session = conn
			if prepared {
				on = kept
			}
			exec := func(query string, args ...any) {
				if _, err := on.ExecContext(b.Context(), query, args...); err != nil {
					b.Fatal(err)
				}
			}
			exec("CREATE TABLE seen (id TEXT NOT NULL PRIMARY KEY, at BIGINT NOT NULL)")
			exec("BEGIN")
			for i := 0; b.Loop(); i++ {
				exec("SAVEPOINT change")
				exec("INSERT INTO seen (id, at) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET at = excluded.at", "key_01", i)
				exec("RELEASE change")
			}
			exec("COMMIT")
		})
	}
}
