package columnstore_test

import (
	"context"
	"testing"

	"vayu/internal/columnstore"
	"vayu/internal/columnstore/columnstoretest"
	"vayu/internal/config"
)

// The service's own queries use FINAL where they need it. The engine's default would make the others slower.
func TestConnectionReadsWithoutFinal(t *testing.T) {
	t.Parallel()
	db := columnstoretest.New(t)
	table := columnstoretest.Database(t, db) + ".t"
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
	address, password := columnstoretest.Access(t)
	for name, c := range map[string]struct {
		db   *columnstore.DB
		ctx  context.Context
		want uint64
	}{
		"embedded engine":      {db, t.Context(), 200},
		"embedded, Final":      {db, columnstore.Final(t.Context()), 100},
		"server":               {server(t, columnstore.Config{DSN: config.DSN("http://default:" + password + "@" + address + "/")}), t.Context(), 200},
		"server, Final":        {server(t, columnstore.Config{DSN: config.DSN("http://default:" + password + "@" + address + "/")}), columnstore.Final(t.Context()), 100},
		"server, DSN sets it":  {server(t, columnstore.Config{DSN: config.DSN("http://default:" + password + "@" + address + "/?final=1")}), t.Context(), 100},
		"server, no other DSN": {server(t, columnstore.Config{DSN: config.DSN("http://default:" + password + "@" + address + "/?max_threads=1")}), t.Context(), 200},
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
