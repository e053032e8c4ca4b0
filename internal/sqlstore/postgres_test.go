package sqlstore_test

import (
	"context"
	"errors"
	"io/fs"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/config"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	migrations "vayu/schema/migrations/sql"
)

// terminate ends every connection of other to the database of db.
func terminate(tb testing.TB, db *sqlstore.DB, other string) (ended int) {
	tb.Helper()
	if err := db.View(context.Background()).QueryRow(`SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
		WHERE datname = current_database() AND application_name = $1 AND pid <> pg_backend_pid()`, other).Scan(&ended); err != nil {
		tb.Fatal(err)
	}
	return ended
}

// named sets the application name of a DSN.
func named(dsn config.DSN, name string) config.DSN {
	return dsn + "&application_name=" + config.DSN(url.QueryEscape(name))
}

// Changes and readers transparently replace connections that broke while idle.
func TestIdleBrokenConnectionsAreReplaced(t *testing.T) {
	t.Parallel()
	dsn := sqlstoretest.PostgresDSN(t)
	other := sqlstoretest.Open(t, sqlstore.Config{DSN: named(dsn, "other")})
	db := sqlstoretest.Open(t, sqlstore.Config{DSN: named(dsn, "victim"), Settings: sqlstore.Settings{Connections: 4}})
	for range 3 {
		var all sync.WaitGroup
		ready := make(chan struct{}, 4)
		goOn := make(chan struct{})
		for range 4 { // every connection exists, and is idle
			all.Go(func() {
				if err := db.Update(context.Background(), func(*sqlstore.Tx) error { ready <- struct{}{}; <-goOn; return nil }); err != nil {
					t.Error(err)
				}
			})
		}
		for range 4 {
			<-ready
		}
		close(goOn)
		all.Wait()
		if n := terminate(t, other, "victim"); n != 4 {
			t.Fatalf("%d connections were ended, want 4", n)
		}
		if err := db.Check(t.Context()); err != nil {
			t.Errorf("a reader after the loss got %v", err)
		}
		sqlstoretest.Update(t, db, func(tx *sqlstore.Tx) error { return set(tx, "a", "1") })
		wantSettings(t, db, "a=1")
	}
}

// The change is rolled back, and other changes succeed.
func TestBrokenConnectionFailsItsChangeOnly(t *testing.T) {
	t.Parallel()
	dsn := sqlstoretest.PostgresDSN(t)
	other := sqlstoretest.Open(t, sqlstore.Config{DSN: named(dsn, "other")})
	db := sqlstoretest.Open(t, sqlstore.Config{DSN: named(dsn, "victim")})
	err := db.Update(t.Context(), func(tx *sqlstore.Tx) error {
		if err := set(tx, "a", "1"); err != nil {
			return err
		}
		terminate(t, other, "victim")
		return set(tx, "b", "2")
	})
	if !unavailable(err) {
		t.Errorf("got %v, want service_unavailable", err)
	}
	sqlstoretest.Update(t, db, func(tx *sqlstore.Tx) error { return set(tx, "c", "3") })
	wantSettings(t, db, "c=3")
}

// Two changes lock two rows in opposite order.
func TestDeadlockIsRetried(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewRegistry()
	db := sqlstoretest.Open(t, sqlstore.Config{DSN: sqlstoretest.PostgresDSN(t)}, reg)
	sqlstoretest.Update(t, db, func(tx *sqlstore.Tx) error { return errors.Join(set(tx, "a", "0"), set(tx, "b", "0")) })
	add := func(tx *sqlstore.Tx, name string) error {
		_, err := tx.Exec("UPDATE setting SET value = CAST(CAST(value AS BIGINT) + 1 AS TEXT) WHERE name = $1", name)
		return err
	}
	var both, wait sync.WaitGroup
	both.Add(2)
	for _, names := range [][2]string{{"a", "b"}, {"b", "a"}} {
		first := true
		wait.Go(func() {
			if err := db.Update(context.Background(), func(tx *sqlstore.Tx) error {
				if err := add(tx, names[0]); err != nil {
					return err
				}
				if first { // both lock their first row before either locks the second
					first = false
					both.Done()
					both.Wait()
				}
				return add(tx, names[1])
			}); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	wantSettings(t, db, "a=2", "b=2")
	if got := counter(t, reg, "vayu_state_conflicts_total"); got < 1 { // the second attempt may conflict once more
		t.Errorf("%v conflicts were counted, want one or two", got)
	}
	if got := counter(t, reg, "vayu_state_faults_total"); got != 0 {
		t.Errorf("%v faults were counted, want 0: a resolved conflict is no fault", got)
	}
}

func counter(tb testing.TB, reg *prometheus.Registry, name string) float64 {
	tb.Helper()
	families, err := reg.Gather()
	if err != nil {
		tb.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == name {
			return family.GetMetric()[0].GetCounter().GetValue()
		}
	}
	tb.Fatalf("there is no metric %s", name)
	return 0
}

// The server cancels it, and the client gets an error to retry.
func TestSlowStatementTimesOut(t *testing.T) {
	t.Parallel()
	dsn := sqlstoretest.PostgresDSN(t)
	sqlstoretest.Open(t, sqlstore.Config{DSN: dsn}) // creates the tables, which may take longer
	db := sqlstoretest.Open(t, sqlstore.Config{DSN: dsn + "&statement_timeout=1000"})
	err := db.Update(t.Context(), func(tx *sqlstore.Tx) error {
		_, err := tx.Exec("SELECT pg_sleep(60)")
		return err
	})
	if !unavailable(err) {
		t.Errorf("got %v, want service_unavailable", err)
	}
	if stated, ok := errors.AsType[*pgconn.PgError](err); !ok {
		t.Errorf("the cause is %v, want that the statement was cancelled", err)
	} else if stated.Code != "57014" {
		t.Errorf("the code of the cause is %s, want 57014", stated.Code)
	}
	fresh := sqlstoretest.Open(t, sqlstore.Config{DSN: sqlstoretest.PostgresDSN(t)})
	var limit string
	if err := fresh.View(t.Context()).QueryRow("SHOW statement_timeout").Scan(&limit); err != nil || limit != "10s" {
		t.Errorf("the configured timeout is %q, %v, want 10s", limit, err)
	}
}

// All start, and every migration is recorded once.
func TestConcurrentStartsMigrateOnce(t *testing.T) {
	t.Parallel()
	dsn := sqlstoretest.PostgresDSN(t)
	const instances = 4
	all := make([]*sqlstore.DB, instances)
	ready := make([]func() error, instances)
	for i := range all {
		all[i], ready[i], _ = sqlstoretest.StartAsync(t, sqlstore.Config{DSN: dsn, Settings: sqlstore.Settings{Connections: 2}})
	}
	for i := range all {
		if err := ready[i](); err != nil {
			t.Fatalf("instance %d: %v", i, err)
		}
	}
	files, err := fs.Glob(migrations.Files, "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	var rows, versions int
	if err := all[0].View(t.Context()).QueryRow("SELECT count(*), count(DISTINCT version_id) FROM goose_db_version").Scan(&rows, &versions); err != nil {
		t.Fatal(err)
	}
	if want := len(files) + 1; rows != want || versions != want { // goose records a version 0 first
		t.Errorf("%d rows record %d versions, want %d of each", rows, versions, want)
	}
}

func TestInvalidDSNErrorHidesPassword(t *testing.T) {
	t.Parallel()
	for _, dsn := range []config.DSN{"mysql://u:hush@h/d", "postgres://u:hush@h:port/d", "://hush"} {
		if _, err := sqlstore.Open(sqlstore.Config{DSN: dsn}, nil, nil); err == nil || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s gave %v", dsn, err)
		}
	}
	right, err := url.Parse(string(sqlstoretest.PostgresDSN(t)))
	if err != nil {
		t.Fatal(err)
	}
	right.User = url.UserPassword("vayu", "hush")
	if err := openFails(t, sqlstore.Config{DSN: config.DSN(right.String())}); err == nil || strings.Contains(err.Error(), "hush") {
		t.Errorf("a wrong password gave %v", err)
	}
	if err := openFails(t, sqlstore.Config{DSN: config.DSN(right.String() + "&sslmode=hush")}); err == nil || strings.Contains(err.Error(), "hush@") {
		t.Errorf("a wrong option gave %v", err)
	}
}
