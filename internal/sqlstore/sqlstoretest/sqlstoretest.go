// Package sqlstoretest gives each test a state store of its own: SQLite in a temporary folder, or a new
// database on a PostgreSQL server.
//
// The environment variable VAYU_TEST_POSTGRES is the DSN of the server, whose user may create databases
// (.ci/postgres starts a server). Without the variable, tests on PostgreSQL are skipped, or fail if CI=true.
package sqlstoretest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/config"
	"vayu/internal/sqlstore"
	"vayu/internal/testing/fixture"
)

// Variable is the name of the environment variable with the DSN of the PostgreSQL server.
const Variable = "VAYU_TEST_POSTGRES"

// timeout limits each wait for a store to open, and each statement of ExecOnServer. It is also the
// StatementTimeout of the stores that [SQLite] and [Postgres] open, because concurrent tests slow down statements.
const timeout = 2 * time.Minute

// Each runs a test once per engine, as the subtests "sqlite" and "postgres". Each subtest has a new store
// that is ready.
func Each(t *testing.T, do func(t *testing.T, db *sqlstore.DB)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		do(t, SQLite(t))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		do(t, Postgres(t))
	})
}

// Open opens the store of c. The store is ready, and stops with the test. Two stores with one PostgresDSN
// are like two instances of the service. The first registry, if any, gets the store's metrics.
func Open(tb testing.TB, c sqlstore.Config, metrics ...prometheus.Registerer) *sqlstore.DB {
	tb.Helper()
	db, _ := Start(tb, c, metrics...)
	return db
}

// Fresh has for each engine a function that returns the configuration of an empty store.
var Fresh = map[string]func(testing.TB) sqlstore.Config{
	"sqlite":   func(tb testing.TB) sqlstore.Config { tb.Helper(); return sqlstore.Config{Data: tb.TempDir()} },
	"postgres": func(tb testing.TB) sqlstore.Config { tb.Helper(); return sqlstore.Config{DSN: PostgresDSN(tb)} },
}

// Start opens a store as Open does, and also returns the function `stop`, which stops the store before the end of the
// test. `stop` waits until the store has stopped. It may be called more than once.
func Start(tb testing.TB, c sqlstore.Config, metrics ...prometheus.Registerer) (db *sqlstore.DB, stop func()) {
	tb.Helper()
	db, ready, stop := StartAsync(tb, c, metrics...)
	if err := ready(); err != nil {
		stop()
		tb.Fatalf("the state store did not become ready: %v", err)
	}
	return db, stop
}

// StartAsync opens a store as Start does, but does not wait until the store is ready. Several stores can thus
// start concurrently. Use the store only after the function `ready` has returned nil. Any goroutine may call `ready`.
func StartAsync(tb testing.TB, c sqlstore.Config, metrics ...prometheus.Registerer) (db *sqlstore.DB, ready func() error, stop func()) {
	tb.Helper()
	var reg prometheus.Registerer
	if len(metrics) > 0 {
		reg = metrics[0]
	}
	db, err := sqlstore.Open(c, nil, reg)
	if err != nil {
		tb.Fatal(err)
	}
	running, ended := context.WithCancel(context.Background()) // `ready` does not wait for a store that has ended
	stop = fixture.Run(tb, func(ctx context.Context) error { defer ended(); return db.Run(ctx) })
	ready = func() error {
		limit, done := context.WithTimeout(running, timeout)
		defer done()
		return db.Ready(limit)
	}
	return db, ready, stop
}

// PostgresDSN creates an empty database for this test and returns its DSN. At the end of the test the database is
// dropped, even with open connections.
func PostgresDSN(tb testing.TB) config.DSN {
	tb.Helper()
	return database(tb, "template1")
}

// database creates a database for the test as a copy of the database `template`. At the end of the test it is dropped.
func database(tb testing.TB, template string) config.DSN {
	tb.Helper()
	server := os.Getenv(Variable)
	switch {
	case server == "" && os.Getenv("CI") == "true":
		tb.Fatalf("%s is not set: CI needs PostgreSQL", Variable)
	case server == "":
		tb.Skipf("%s is not set; .ci/postgres starts a server and prints it", Variable)
	}
	address, err := url.Parse(server)
	if err != nil {
		tb.Fatalf("%s is not a URL", Variable)
	}
	name := "vayu_test_" + strings.ToLower(rand.Text())
	ExecOnServer(tb, server, "CREATE DATABASE "+name+" TEMPLATE "+template)
	tb.Cleanup(func() { ExecOnServer(tb, server, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)") })
	address.Path = "/" + name
	return config.DSN(address.String())
}

// ExecOnServer runs a statement in the database that the DSN `server` names, not in a database of the test.
func ExecOnServer(tb testing.TB, server, statement string) {
	tb.Helper()
	db, err := sql.Open("pgx", server)
	if err != nil {
		tb.Fatalf("%s cannot be read", Variable)
	}
	defer db.Close()
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	if _, err := db.ExecContext(ctx, statement); err != nil {
		tb.Errorf("%s: %v", statement, err)
	}
}
