//go:build integration

package sqlstore_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"vayu/internal/config"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
)

// ownServer starts a PostgreSQL for one test, and returns its folder.
func ownServer(t *testing.T, settings ...string) (dsn, dir string) {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "vayu-pg-") // the user postgres must reach it
	if err != nil {
		t.Fatal(err)
	}
	postgres := func(action string, settings ...string) string {
		t.Helper()
		out, err := exec.CommandContext(context.WithoutCancel(t.Context()), "../../.ci/postgres", append([]string{action, dir}, settings...)...).Output()
		if err != nil {
			t.Fatalf(".ci/postgres %s: %v", action, err)
		}
		return strings.TrimSpace(string(out))
	}
	dsn = postgres("start", settings...)
	t.Cleanup(func() { postgres("stop") })
	return dsn, dir
}

// transactionID is the id of a transaction on its server.
func transactionID(t *testing.T, tx *sqlstore.Tx) (number int64) {
	t.Helper()
	if err := tx.QueryRow("SELECT CAST(CAST(pg_current_xact_id() AS TEXT) AS BIGINT)").Scan(&number); err != nil {
		t.Fatal(err)
	}
	return number
}

// consumeIDs commits transactions until the server has assigned the id to one of them.
func consumeIDs(t *testing.T, dsn string, number int64) {
	t.Helper()
	sqlstoretest.ExecOnServer(t, dsn, fmt.Sprintf("DO $$ BEGIN WHILE pg_current_xact_id()::text::bigint <= %d LOOP COMMIT; END LOOP; END $$", number))
}

// wantUndone checks that a change was not committed, although its transaction id is that of a committed one.
func wantUndone(t *testing.T, db *sqlstore.DB, err error, dsn string, number int64) {
	t.Helper()
	if !unavailable(err) {
		t.Errorf("the change got %v, want service_unavailable", err)
	}
	wantSettings(t, db, "before=1")
	var status string
	if err := db.View(t.Context()).QueryRow("SELECT pg_xact_status(CAST(CAST($1 AS TEXT) AS xid8))", fmt.Sprint(number)).Scan(&status); err != nil || status != "committed" {
		t.Errorf("%s: number %d is %q (%v); want it to be committed, by another transaction", dsn, number, status, err)
	}
	update(t, db, func(tx *sqlstore.Tx) error { return set(tx, "before", "1") }) // the store continues
}

// A server stops before it answers COMMIT. Its successor has assigned the transaction id to another,
// committed transaction.
func TestIntegrationFailoverLosesUnansweredCommit(t *testing.T) {
	t.Parallel()
	old, _ := ownServer(t)
	next, _ := ownServer(t)
	address, err := url.Parse(old)
	if err != nil {
		t.Fatal(err)
	}
	other, err := url.Parse(next)
	if err != nil {
		t.Fatal(err)
	}
	password, _ := address.User.Password()
	sqlstoretest.ExecOnServer(t, next, "ALTER ROLE vayu PASSWORD '"+password+"'") // as on a standby
	other.User = address.User
	update(t, sqlstoretest.Open(t, sqlstore.Config{DSN: config.DSN(other.String())}), func(tx *sqlstore.Tx) error { return set(tx, "before", "1") })
	consumeIDs(t, old, 5000)

	relay := newRelay(t, address.Host)
	address.Host = relay.listener.Addr().String()
	db := sqlstoretest.Open(t, sqlstore.Config{DSN: config.DSN(address.String())})
	var number int64
	err = db.Update(t.Context(), func(tx *sqlstore.Tx) error {
		number = transactionID(t, tx)
		consumeIDs(t, other.String(), number)
		relay.turn(other.Host)
		return nil // the next message is COMMIT
	})
	wantUndone(t, db, err, "the next server", number)
}

// After a crash the server reuses a transaction id, because it never wrote its WAL.
func TestIntegrationReusedTransactionID(t *testing.T) {
	t.Parallel()
	dsn, _ := ownServer(t, "wal_writer_delay=10000")
	db := sqlstoretest.Open(t, sqlstore.Config{DSN: config.DSN(dsn)})
	update(t, db, func(tx *sqlstore.Tx) error { return set(tx, "before", "1") })
	var number int64
	err := db.Update(t.Context(), func(tx *sqlstore.Tx) error {
		number = transactionID(t, tx)
		if err := set(tx, "lost", "1"); err != nil {
			return err
		}
		var pid int
		if err := tx.QueryRow("SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'").Scan(&pid); err != nil {
			return err
		}
		crash(t, dsn, pid)
		consumeIDs(t, dsn, number)
		return nil
	})
	wantUndone(t, db, err, "the server", number)
}

// crash kills a process of a server, which makes it restart all others, and waits until the server answers
// again.
func crash(t *testing.T, dsn string, pid int) {
	t.Helper()
	witness, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_, _ = witness.WaitForNotification(t.Context()) // none arrives: its session ends
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(5 * time.Minute)
	for {
		conn, err := pgx.Connect(t.Context(), dsn)
		if err == nil {
			_ = conn.Close(t.Context())
			return
		}
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("the server did not come back: %v", err)
		}
	}
}
