package sqlstore_test

import (
	"net/url"
	"strings"
	"testing"

	"vayu/internal/config"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
)

// TestAVersionThatCannotBeReadIsNoEmptyStore: the tables may be those of a newer program.
func TestAVersionThatCannotBeReadIsNoEmptyStore(t *testing.T) {
	t.Parallel()
	dsn := sqlstoretest.PostgresDSN(t)
	sqlstoretest.Open(t, sqlstore.Config{DSN: dsn})
	address, err := url.Parse(string(dsn))
	if err != nil {
		t.Fatal(err)
	}
	role := "reader_of_" + strings.TrimPrefix(address.Path, "/")
	sqlstoretest.Administer(t, string(dsn), "CREATE ROLE "+role+" LOGIN PASSWORD 'secret'")
	t.Cleanup(func() { sqlstoretest.Administer(t, string(dsn), "DROP ROLE "+role) }) // before the database, which has nothing of it
	address.User = url.UserPassword(role, "secret")
	if err := openFails(t, sqlstore.Config{DSN: config.DSN(address.String())}); err == nil || !strings.Contains(err.Error(), "reading the version") {
		t.Errorf("a store whose version must not be read gave %v, want that it cannot be read", err)
	}
}

// TestAnOlderProgramDoesNotStart on the tables of a newer one.
func TestAnOlderProgramDoesNotStart(t *testing.T) {
	t.Parallel()
	dsn := sqlstoretest.PostgresDSN(t)
	sqlstoretest.Open(t, sqlstore.Config{DSN: dsn})
	sqlstoretest.Administer(t, string(dsn), "INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, true)")
	if err := openFails(t, sqlstore.Config{DSN: dsn}); err == nil || !strings.Contains(err.Error(), "newer vayu") {
		t.Errorf("got %v, want that the store belongs to a newer vayu", err)
	}
}
