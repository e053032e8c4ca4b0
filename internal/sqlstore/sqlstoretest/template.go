package sqlstoretest

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"testing"

	"vayu/internal/sqlstore"
	migrations "vayu/schema/migrations/sql"
)

// template has the migrated stores that new stores are copied from. To migrate each store would take 0.2 s of processor
// time with the race detector, and 0.4 s more on a PostgreSQL server.
//
//nolint:gochecknoglobals // the tests of a binary have nothing else in common
var template struct {
	sqlite, postgres sync.Once
	file             []byte // a migrated SQLite store without rows
}

// SQLite opens a new SQLite store in a folder of the test. The store is ready, and stops with the test.
func SQLite(tb testing.TB) *sqlstore.DB {
	tb.Helper()
	c := sqlstore.Config{Data: tb.TempDir()}
	file := filepath.Join(c.Data, "state.db")
	template.sqlite.Do(func() {
		_, stop := Start(tb, c)
		stop()
		template.file, _ = os.ReadFile(file) // if ReadFile fails, stores begin with an empty file
	})
	if err := os.WriteFile(file, template.file, 0o600); err != nil {
		tb.Fatal(err)
	}
	c.Settings.StatementTimeout = timeout
	return Open(tb, c)
}

// Postgres opens a new PostgreSQL store in a database of its own. The store is ready, and stops with the test.
func Postgres(tb testing.TB) *sqlstore.DB {
	tb.Helper()
	hash := sha256.New()
	names, _ := fs.Glob(migrations.Files, "*.sql")
	for _, name := range names {
		text, _ := migrations.Files.ReadFile(name)
		_, _ = hash.Write(text)
	}
	// All test binaries with the same migrations share the template database, so it is not dropped.
	migrated := fmt.Sprintf("vayu_template_%x", hash.Sum(nil)[:8])
	template.postgres.Do(func() {
		dsn := PostgresDSN(tb)
		_, stop := Start(tb, sqlstore.Config{DSN: dsn})
		stop()
		name := regexp.MustCompile("vayu_test_[a-z0-9]+").FindString(string(dsn))
		ExecOnServer(tb, os.Getenv(Variable), "DO $$ BEGIN ALTER DATABASE "+name+" RENAME TO "+migrated+
			"; EXCEPTION WHEN duplicate_database OR unique_violation THEN END $$") // another test binary was faster
	})
	return Open(tb, sqlstore.Config{DSN: database(tb, migrated), Settings: sqlstore.Settings{Connections: 8, StatementTimeout: timeout}})
}
