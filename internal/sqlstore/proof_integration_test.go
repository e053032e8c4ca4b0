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

// ownServer is a PostgreSQL of the test alone, and its folder.
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

// numberOf is the number of a transaction on its server.
func numberOf(t *testing.T, tx *sqlstore.Tx) (number int64) {
	t.Helper()
	if err := tx.QueryRow("SELECT CAST(CAST(pg_current_xact_id() AS TEXT) AS BIGINT)").Scan(&number); err != nil {
		t.Fatal(err)
	}
	return number
}

// useUp commits transactions until the server has given a number to one of them.
func useUp(t *testing.T, dsn string, number int64) {
	t.Helper()
	sqlstoretest.Administer(t, dsn, fmt.Sprintf("DO $$ BEGIN WHILE pg_current_xact_id()::text::bigint <= %d LOOP COMMIT; END LOOP; END $$", number))
}

// wantUndone is a change that was not committed, and whose number is that of one that was.
func wantUndone(t *testing.T, db *sqlstore.DB, err error, dsn string, number int64) {
	t.Helper()
	if !unavailable(err) {
		t.Errorf("the change got %v, want service_unavailable", err)
	}
	wantSettings(t, db, "before=1")
	var status string
	if err := db.View(t.Context()).QueryRow("SELECT pg_xact_status(CAST(CAST($1 AS TEXT) AS xid8))", fmt.Sprint(number)).Scan(&status); err != nil || status != "committed" {
		t.Errorf("%s: number %d is %q (%v); the test wants it to be somebody else's, and committed", dsn, number, status, err)
	}
	update(t, db, func(tx *sqlstore.Tx) error { return set(tx, "before", "1") }) // the store goes on
}

// TestIntegrationTheNextServerDoesNotHaveTheChange: a server goes away before it has answered to COMMIT, and the one that
// takes its place has given the number of the transaction to another, which is committed.
func TestIntegrationTheNextServerDoesNotHaveTheChange(t *testing.T) {
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
	sqlstoretest.Administer(t, next, "ALTER ROLE vayu PASSWORD '"+password+"'") // as a standby has it
	other.User = address.User
	update(t, sqlstoretest.Open(t, sqlstore.Config{DSN: config.DSN(other.String())}), func(tx *sqlstore.Tx) error { return set(tx, "before", "1") })
	useUp(t, old, 5000)

	relay := newRelay(t, address.Host)
	address.Host = relay.listener.Addr().String()
	db := sqlstoretest.Open(t, sqlstore.Config{DSN: config.DSN(address.String())})
	var number int64
	err = db.Update(t.Context(), func(tx *sqlstore.Tx) error {
		number = numberOf(t, tx)
		useUp(t, other.String(), number)
		relay.turn(other.Host)
		return nil // the next word is COMMIT
	})
	wantUndone(t, db, err, "the next server", number)
}

// TestIntegrationAServerGivesANumberAgain after it has crashed, because it never wrote down that it had given it.
func TestIntegrationAServerGivesANumberAgain(t *testing.T) {
	t.Parallel()
	dsn, _ := ownServer(t, "wal_writer_delay=10000")
	db := sqlstoretest.Open(t, sqlstore.Config{DSN: config.DSN(dsn)})
	update(t, db, func(tx *sqlstore.Tx) error { return set(tx, "before", "1") })
	var number int64
	err := db.Update(t.Context(), func(tx *sqlstore.Tx) error {
		number = numberOf(t, tx)
		if err := set(tx, "lost", "1"); err != nil {
			return err
		}
		var pid int
		if err := tx.QueryRow("SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'").Scan(&pid); err != nil {
			return err
		}
		crash(t, dsn, pid)
		useUp(t, dsn, number)
		return nil
	})
	wantUndone(t, db, err, "the server", number)
}

// crash kills a process of a server, which makes it end all others, and waits until it is there again.
func crash(t *testing.T, dsn string, pid int) {
	t.Helper()
	witness, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_, _ = witness.WaitForNotification(t.Context()) // none comes: its session ends
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(time.Minute)
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
