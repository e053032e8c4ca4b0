package columnar_test

import (
	"context"
	"testing"

	"vayu/internal/columnar"
	"vayu/internal/columnar/columnartest"
	"vayu/internal/config"
)

// The service's own queries say FINAL where they need it. The default of the engine would make the others slower.
func TestConnectionReadsWithoutFinal(t *testing.T) {
	t.Parallel()
	db := columnartest.New(t)
	table := columnartest.Database(t, db) + ".t"
	for _, statement := range []string{
		"CREATE TABLE " + table + " (id UInt32, version UInt32) ENGINE = ReplacingMergeTree(version) ORDER BY id",
		"SYSTEM STOP MERGES " + table,
		"INSERT INTO " + table + " SELECT number, 1 FROM numbers(100)",
		"INSERT INTO " + table + " SELECT number, 2 FROM numbers(100)",
	} {
		if err := db.Conn().Exec(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	address, password := columnartest.Access(t)
	for name, c := range map[string]struct {
		db   *columnar.DB
		ctx  context.Context
		want uint64
	}{
		"embedded engine":      {db, t.Context(), 200},
		"embedded, Final":      {db, columnar.Final(t.Context()), 100},
		"server":               {server(t, columnar.Config{DSN: config.DSN("http://default:" + password + "@" + address + "/")}), t.Context(), 200},
		"server, Final":        {server(t, columnar.Config{DSN: config.DSN("http://default:" + password + "@" + address + "/")}), columnar.Final(t.Context()), 100},
		"server, DSN sets it":  {server(t, columnar.Config{DSN: config.DSN("http://default:" + password + "@" + address + "/?final=1")}), t.Context(), 100},
		"server, no other DSN": {server(t, columnar.Config{DSN: config.DSN("http://default:" + password + "@" + address + "/?max_threads=1")}), t.Context(), 200},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got uint64
			if err := c.db.Conn().QueryRow(c.ctx, "SELECT count() FROM "+table).Scan(&got); err != nil || got != c.want {
				t.Errorf("got %d rows, %v; want %d", got, err, c.want)
			}
		})
	}
}
