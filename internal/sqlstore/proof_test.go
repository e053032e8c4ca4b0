package sqlstore_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/config"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/internal/testing/fixture"
	"vayu/schema"
)

// If the client got the error that nothing was changed, a late COMMIT changes nothing.
func TestLateCommitIsRejected(t *testing.T) {
	t.Parallel()
	dsn, hold, deliver := delay(t, sqlstoretest.PostgresDSN(t))
	db := sqlstoretest.Open(t, sqlstore.Config{DSN: dsn})
	// The change's locks remain until it is delivered, so it must not lock rows of others.
	err := db.Update(t.Context(), func(tx *sqlstore.Tx) error {
		defer hold() // the next message is COMMIT
		return set(tx, "a", "1")
	})
	if !unavailable(err) || !strings.Contains(err.Error(), "nothing was changed") {
		t.Errorf("got %v, want service_unavailable and that nothing was changed", err)
	}
	deliver()
	wantSettings(t, db)
	update(t, db, func(tx *sqlstore.Tx) error { return set(tx, "a", "2") })
	wantSettings(t, db, "a=2")
}

// The pool has one connection, which the enquiry for the outcome needs.
func TestOutcomeEnquiryWithOneConnection(t *testing.T) {
	t.Parallel()
	dsn, cut := proxy(t, sqlstoretest.PostgresDSN(t))
	db := sqlstoretest.Open(t, sqlstore.Config{DSN: dsn, Settings: sqlstore.Settings{Connections: 1}})
	update(t, db, func(tx *sqlstore.Tx) error {
		cut := cut
		defer cut() // the next reply is that to COMMIT
		return set(tx, "a", "1")
	})
	wantSettings(t, db, "a=1")
}

func TestUnknownOutcomeIsReported(t *testing.T) {
	t.Parallel()
	address, err := url.Parse(string(sqlstoretest.PostgresDSN(t)))
	if err != nil {
		t.Fatal(err)
	}
	relay := newRelay(t, address.Host)
	address.Host = relay.listener.Addr().String()
	db := sqlstoretest.Open(t, sqlstore.Config{DSN: config.DSN(address.String())})
	db.SetOutcomeTimeout(50 * time.Millisecond)
	err = db.Update(t.Context(), func(tx *sqlstore.Tx) error {
		defer relay.leave()
		return set(tx, "a", "1")
	})
	if !unavailable(err) || !strings.Contains(err.Error(), "it is not known whether") {
		t.Errorf("got %v, want service_unavailable and that it is not known", err)
	}
}

// The outcome is known without an enquiry.
func TestRejectedCommitIsRolledBack(t *testing.T) {
	t.Parallel()
	dsn := sqlstoretest.PostgresDSN(t)
	db := sqlstoretest.Open(t, sqlstore.Config{DSN: dsn})
	db.SetOutcomeTimeout(50 * time.Millisecond)
	update(t, db, func(tx *sqlstore.Tx) error { return set(tx, "before", "1") })
	sqlstoretest.ExecOnServer(t, string(dsn), `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
		$$ BEGIN RAISE EXCEPTION 'no space left' USING ERRCODE = 'disk_full'; END $$`)
	sqlstoretest.ExecOnServer(t, string(dsn), "CREATE TRIGGER refuse BEFORE INSERT ON commit_proof EXECUTE FUNCTION refuse()")
	for range 3 {
		err := db.Update(t.Context(), func(tx *sqlstore.Tx) error { return set(tx, "a", "1") })
		if !unavailable(err) || !strings.Contains(err.Error(), "nothing was changed") || !strings.Contains(err.Error(), "no space left") {
			t.Errorf("got %v, want service_unavailable, that nothing was changed, and the reason", err)
		}
	}
	wantSettings(t, db, "before=1")
}

// A standby instance makes no change of its own.
func TestReaderNoticesRecovery(t *testing.T) {
	t.Parallel()
	for name, db := range map[string]*sqlstore.DB{"sqlite": sqlstoretest.SQLite(t), "postgres": sqlstoretest.Postgres(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := db.Update(t.Context(), func(tx *sqlstore.Tx) error {
				return schema.Unavailable("as on a full disk", nil)
			}); !unavailable(err) {
				t.Fatal(err)
			}
			if err := db.Check(t.Context()); err == nil {
				t.Error("Check succeeds for a store that could not write")
			}
			fixture.Eventually(t, "the store is called sound", func() bool { return db.Check(t.Context()) == nil })
			wantSettings(t, db)
		})
	}
}

// A change without writes leaves no proof, and old proofs are deleted.
func TestProofsAreSwept(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewRegistry()
	db := sqlstoretest.Open(t, sqlstore.Config{DSN: sqlstoretest.PostgresDSN(t)}, reg)
	wantProofs := func(want int) {
		t.Helper()
		var got int
		if err := db.View(t.Context()).QueryRow("SELECT count(*) FROM commit_proof WHERE undone = 0").Scan(&got); err != nil || got != want {
			t.Errorf("there are %d proofs (%v), want %d", got, err, want)
		}
	}
	update(t, db, func(tx *sqlstore.Tx) error {
		_, err := tx.Exec("UPDATE setting SET value = '' WHERE name = 'missing'")
		return err
	})
	wantProofs(0)
	for range 3 {
		update(t, db, func(tx *sqlstore.Tx) error { return set(tx, "a", "1") })
	}
	wantProofs(3)
	update(t, db, func(tx *sqlstore.Tx) error { // more than one sweep group
		return run(tx, "INSERT INTO commit_proof (id, at, undone) SELECT 'old' || n, 0, 0 FROM generate_series(1, 2500) AS n")
	})
	wantProofs(2504)
	db.Sweep(t.Context(), time.Hour)
	wantProofs(4)
	db.Sweep(t.Context(), -time.Hour) // all are older than that
	wantProofs(0)
	db.SetAnswerTimeout(time.Nanosecond)
	db.Sweep(t.Context(), time.Hour)
	if n := counter(t, reg, "vayu_state_sweep_failures_total"); n != 1 {
		t.Errorf("%v failures are counted, want 1", n)
	}
}

func run(tx *sqlstore.Tx, statement string) error {
	_, err := tx.Exec(statement)
	return err
}
