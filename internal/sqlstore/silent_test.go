package sqlstore_test

import (
	"context"
	"testing"
	"time"

	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
)

// storeCalls are the ways to wait for a store.
var storeCalls = map[string]func(context.Context, *sqlstore.DB) error{
	"a change": func(ctx context.Context, db *sqlstore.DB) error {
		return db.Update(ctx, func(*sqlstore.Tx) error { return nil })
	},
	"a row": func(ctx context.Context, db *sqlstore.DB) error { return db.Check(ctx) },
	"rows": func(ctx context.Context, db *sqlstore.DB) error {
		return sqlstore.Each(db.View(ctx), func(sqlstore.Scanner) error { return nil }, "SELECT 1")
	},
}

// wantStoreTimeout calls the store with a timeout that is far longer than the store's.
func wantStoreTimeout(t *testing.T, db *sqlstore.DB, call func(context.Context, *sqlstore.DB) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	if err := call(ctx, db); !unavailable(err) {
		t.Errorf("got %v, want service_unavailable", err)
	}
	if ctx.Err() != nil {
		t.Error("only the caller's timeout ended the wait")
	}
}

// The server stops answering, on an existing connection and on a new one.
func TestSilentServerTimesOut(t *testing.T) {
	t.Parallel()
	for name, ask := range storeCalls {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dsn, hush := silence(t, sqlstoretest.PostgresDSN(t))
			db := sqlstoretest.Open(t, sqlstore.Config{DSN: dsn, Settings: sqlstore.Settings{Connections: 2}})
			if err := ask(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			hush()
			db.SetAnswerTimeout(50 * time.Millisecond)
			for range 3 { // the first uses the old connection
				wantStoreTimeout(t, db, ask)
			}
		})
	}
}

func TestWaitForConnectionTimesOut(t *testing.T) {
	t.Parallel()
	db := sqlstoretest.Open(t, sqlstore.Config{DSN: sqlstoretest.PostgresDSN(t), Settings: sqlstore.Settings{Connections: 1}})
	sqlstoretest.Update(t, db, func(*sqlstore.Tx) error {
		db.SetAnswerTimeout(50 * time.Millisecond)
		for name, ask := range storeCalls {
			t.Run(name, func(t *testing.T) { wantStoreTimeout(t, db, ask) }) //nolint:paralleltest // while the only connection is taken
		}
		return nil
	})
}

// endless is a query of SQLite that ends only if it is interrupted.
const endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"

func TestSlowSQLiteQueryTimesOut(t *testing.T) {
	t.Parallel()
	db := sqlstoretest.SQLite(t)
	db.SetAnswerTimeout(50 * time.Millisecond)
	wantStoreTimeout(t, db, func(ctx context.Context, db *sqlstore.DB) error {
		var n int
		return db.View(ctx).QueryRow(endless).Scan(&n)
	})
	wantStoreTimeout(t, db, func(ctx context.Context, db *sqlstore.DB) error {
		return sqlstore.Each(db.View(ctx), func(sqlstore.Scanner) error { return nil }, endless)
	})
}

// SQLite ignores an interrupt that arrives after the driver has checked the context and before the first step.
func TestSQLiteQueryTimesOutAtItsStart(t *testing.T) {
	t.Parallel()
	db := sqlstoretest.SQLite(t)
	for i := range 2000 {
		db.SetAnswerTimeout(time.Duration(i%200) * time.Microsecond)
		var n int
		if err := db.View(t.Context()).QueryRow(endless).Scan(&n); !unavailable(err) {
			t.Fatalf("got %v, want service_unavailable", err)
		}
	}
}
