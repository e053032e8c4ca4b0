package sqlstore_test

import (
	"net/url"
	"strings"
	"testing"

	"vayu/internal/config"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
)

// A store with an unreadable version may belong to a newer program.
func TestUnreadableVersionFailsOpen(t *testing.T) {
	t.Parallel()
	dsn := sqlstoretest.PostgresDSN(t)
	sqlstoretest.Open(t, sqlstore.Config{DSN: dsn})
	address, err := url.Parse(string(dsn))
	if err != nil {
		t.Fatal(err)
	}
	role := "reader_of_" + strings.TrimPrefix(address.Path, "/")
	sqlstoretest.ExecOnServer(t, string(dsn), "CREATE ROLE "+role+" LOGIN PASSWORD 'secret'")
	t.Cleanup(func() { sqlstoretest.ExecOnServer(t, string(dsn), "DROP ROLE "+role) }) // before the database, in which it owns nothing
	address.User = url.UserPassword(role, "secret")
	if err := openFails(t, sqlstore.Config{DSN: config.DSN(address.String())}); err == nil || !strings.Contains(err.Error(), "reading the version") {
		t.Errorf("got %v, want an error of reading the version", err)
	}
}

// The tables belong to a newer program.
func TestOlderProgramDoesNotStart(t *testing.T) {
	t.Parallel()
	dsn := sqlstoretest.PostgresDSN(t)
	sqlstoretest.Open(t, sqlstore.Config{DSN: dsn})
	sqlstoretest.ExecOnServer(t, string(dsn), "INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, true)")
	if err := openFails(t, sqlstore.Config{DSN: dsn}); err == nil || !strings.Contains(err.Error(), "newer vayu") {
		t.Errorf("got %v, want that the store belongs to a newer vayu", err)
	}
}
