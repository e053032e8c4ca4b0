// Package columnstoretest gives tests a real ClickHouse: one embedded engine per test binary, a database per test.
//
//	func TestMain(m *testing.M) { columnstoretest.Main(m) }
//	db := columnstoretest.New(t)
//	name := columnstoretest.Database(t, db) // in a test; write name.table in the SQL
package columnstoretest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"vayu/internal/columnstore"
	"vayu/internal/columnstore/embedded"
	"vayu/internal/columnstore/embedded/chdb"
	"vayu/internal/columnstore/migration"
	"vayu/internal/testing/realdata"
	"vayu/schema/migrations/clickhouse"
)

// childVariable is an environment variable. If it is set, the test binary runs the engine instead of tests.
const childVariable = "VAYU_TEST_ENGINE"

// Environment returns variables for Config.Environment that make the test binary run the engine instead of tests.
func Environment() []string { return []string{childVariable + "=1"} }

// server is the engine that the tests of one binary share. The first test that needs the engine starts it.
type server struct {
	once     sync.Once
	main     bool // TestMain has called Main; only then can the binary run as the engine's process
	db       *columnstore.DB
	data     string
	err      error
	stop     func()
	migrate  sync.Once
	migrated error       // of migrating the template that Migrated copies
	idle     chan string // databases of Migrated whose tests have ended
}

//nolint:gochecknoglobals // TestMain and the tests of a binary have nothing else in common
var shared = server{idle: make(chan string, 100)}

// Main runs a package's tests, or the engine if the variables of Environment are set. It does not return.
func Main(m *testing.M) {
	chdb.SearchIn(realdata.Checkout())
	if os.Getenv(childVariable) != "" {
		if err := embedded.Child(context.Background(), os.Stdin, os.Stdout, os.Stderr); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	shared.main = true
	code := m.Run()
	if shared.stop != nil {
		shared.stop()
	}
	os.Exit(code)
}

// New returns the test binary's engine, which is ready. Without libchdb, New skips the test, or fails it if CI=true.
func New(tb testing.TB) *columnstore.DB {
	tb.Helper()
	Library(tb)
	shared.once.Do(shared.start)
	if shared.err != nil {
		tb.Fatalf("starting the engine: %v", shared.err)
	}
	return shared.db
}

// Access returns the address (host:port) of the engine of [New], and the password of its user "default". A test can
// use them to connect other ClickHouse clients.
func Access(tb testing.TB) (address, password string) {
	tb.Helper()
	New(tb)
	address, password, err := embedded.Access(shared.data)
	if err != nil {
		tb.Fatal(err)
	}
	return address, password
}

// AnalystAccess returns the address of the engine of [New], and the password of its user "analyst". The user reads the
// databases vayu and vayu_sandbox, except tables that name accounts.
func AnalystAccess(tb testing.TB) (address, password string) {
	tb.Helper()
	New(tb)
	address, password, err := embedded.AnalystAccess(shared.data)
	if err != nil {
		tb.Fatal(err)
	}
	return address, password
}

// Library returns the path of libchdb. Without libchdb, Library skips the test, or fails it if CI=true.
func Library(tb testing.TB) string {
	tb.Helper()
	if !shared.main {
		tb.Fatal("TestMain of this package must call columnstoretest.Main")
	}
	path, err := chdb.FindLibrary("")
	if err != nil {
		if os.Getenv("CI") == "true" {
			tb.Fatal(err)
		}
		tb.Skip(err)
	}
	return path
}

func (s *server) start() {
	if s.data, s.err = os.MkdirTemp("", "vayu-engine-"); s.err != nil {
		return
	}
	var end func() error
	if s.db, end, s.err = run(s.data, os.Stderr, func(*columnstore.Config) {}); end == nil {
		return
	}
	s.stop = func() {
		if err := end(); err != nil {
			fmt.Fprintln(os.Stderr, "engine:", err)
		}
		_ = os.RemoveAll(s.data)
	}
}

// Start starts an engine for one test, waits until it is ready, and stops it at the end of the test. The function
// `change` edits the engine's configuration before the start.
func Start(tb testing.TB, change func(*columnstore.Config)) *columnstore.DB {
	tb.Helper()
	Library(tb)
	db, end, err := run(tb.TempDir(), tb.Output(), change)
	if end != nil {
		tb.Cleanup(func() {
			if err := end(); err != nil {
				tb.Errorf("the engine ended with %v", err)
			}
		})
	}
	if err != nil {
		tb.Fatal(err)
	}
	return db
}

// run starts an engine with its data in dir, and waits until it is ready. The function `end` stops the engine. It is
// nil if the engine was not started.
func run(dir string, log io.Writer, change func(*columnstore.Config)) (db *columnstore.DB, end func() error, err error) {
	cfg := columnstore.Default()
	cfg.Port, cfg.Data, cfg.Environment, cfg.Command = 0, dir, Environment(), []string{os.Args[0]}
	cfg.Readable, cfg.Private = []string{"vayu", "vayu_sandbox"}, []string{"attempt", "pushed_station"}
	change(&cfg)
	if db, err = columnstore.Open(cfg, slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelWarn})), nil); err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- db.Run(ctx) }()
	ready, stop := context.WithTimeout(ctx, 2*time.Minute) // the machine may be busy with other tests
	defer stop()
	err = db.Ready(ready)
	return db, func() error { cancel(); return <-ended }, err
}

// Database creates a database for one test and returns its name. It drops the database at the end of the test.
func Database(tb testing.TB, db *columnstore.DB) string {
	tb.Helper()
	name := "test_" + strings.ToLower(rand.Text())
	if err := db.Conn().Exec(tb.Context(), "CREATE DATABASE "+name); err != nil {
		tb.Fatalf("creating a database: %v", err)
	}
	tb.Cleanup(func() {
		if err := db.Conn().Exec(context.WithoutCancel(tb.Context()), "DROP DATABASE "+name+" SYNC"); err != nil {
			tb.Errorf("dropping the database: %v", err)
		}
	})
	return name
}

// Migrated returns a database with empty tables of air quality for one test. The first call migrates a template. Each
// call empties and reuses the database of a test that has ended, or creates one. Tables that differ from the template
// are replaced.
func Migrated(tb testing.TB, db *columnstore.DB) (name string) {
	tb.Helper()
	shared.migrate.Do(func() {
		shared.migrated = migration.Apply(tb.Context(), db, migration.Params{Files: clickhouse.Files, Database: "template_of_tests", Values: clickhouse.Values()})
	})
	select {
	case name = <-shared.idle:
	default:
		name = "test_" + strings.ToLower(rand.Text())
	}
	var statements []string
	err := errors.Join(shared.migrated, db.Conn().QueryRow(tb.Context(), `WITH ? AS own, 'template_of_tests' AS template
		SELECT arrayPushBack(arrayPushFront(groupArray(statement), 'CREATE DATABASE IF NOT EXISTS ' || own), format('INSERT INTO {}.migration SELECT * FROM {}.migration', own, template))
		FROM (SELECT replaceAll(create_table_query, database, own) AS copy, multiIf(count() = 2, 'TRUNCATE TABLE ', any(database) = own, 'DROP TABLE ', '') AS verb,
				if(verb = '', copy, format('{}{}.{}', verb, own, any(name))) AS statement -- TRUNCATE ALL TABLES would end merges and mutations forever
			FROM system.tables WHERE database IN (own, template) GROUP BY copy HAVING count() = 1 OR sumIf(total_rows, database = own) > 0 ORDER BY verb = '', any(engine) = 'View')`, name).Scan(&statements))
	for _, s := range statements {
		err = errors.Join(err, db.Conn().Exec(tb.Context(), s))
	}
	if err != nil {
		tb.Fatalf("creating a migrated database: %v", err)
	}
	tb.Cleanup(func() { shared.idle <- name })
	return name
}
