package sqlstore_test

import (
	"strings"
	"testing"

	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/internal/testing/fixture"
	"vayu/schema"
)

// A change whose COMMIT was sent, and not answered, may be in the store or not. The error states that.
func TestUnansweredCommitIsReported(t *testing.T) {
	t.Parallel()
	dsn, cut := proxy(t, sqlstoretest.PostgresDSN(t))
	db := sqlstoretest.Open(t, sqlstore.Config{DSN: dsn, Settings: sqlstore.Settings{Connections: 1}})
	err := db.Update(t.Context(), func(tx *sqlstore.Tx) error {
		defer cut() // the next reply is that to COMMIT
		return set(tx, "a", "1")
	})
	if !unavailable(err) || !strings.Contains(err.Error(), "it is not known whether") {
		t.Errorf("got %v, want service_unavailable and that it is not known", err)
	}
	wantSettings(t, db, "a=1") // the server has received COMMIT
	sqlstoretest.Update(t, db, func(tx *sqlstore.Tx) error { return set(tx, "a", "2") })
	wantSettings(t, db, "a=2")
}

// The server answers COMMIT with an error, so nothing was changed.
func TestRejectedCommitIsRolledBack(t *testing.T) {
	t.Parallel()
	dsn := sqlstoretest.PostgresDSN(t)
	db := sqlstoretest.Open(t, sqlstore.Config{DSN: dsn})
	sqlstoretest.Update(t, db, func(tx *sqlstore.Tx) error { return set(tx, "before", "1") })
	sqlstoretest.ExecOnServer(t, string(dsn), `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
		$$ BEGIN RAISE EXCEPTION 'no space left' USING ERRCODE = 'disk_full'; END $$`)
	sqlstoretest.ExecOnServer(t, string(dsn), `CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON setting
		DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse()`)
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
