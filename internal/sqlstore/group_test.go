package sqlstore_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

// inOneGroup runs changes that share one commit, in their order, and returns their errors. It blocks the
// writer until all are queued.
func inOneGroup(tb testing.TB, db *sqlstore.DB, changes ...func(*sqlstore.Tx) error) []error {
	tb.Helper()
	errs := make([]error, len(changes))
	began, goOn := make(chan struct{}), make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		if err := db.Update(context.Background(), func(*sqlstore.Tx) error { close(began); <-goOn; return nil }); err != nil {
			tb.Error(err)
		}
	})
	<-began
	for i, do := range changes {
		wait.Go(func() { errs[i] = db.Update(context.Background(), do) })
		for db.QueuedChanges() <= i {
			runtime.Gosched()
		}
	}
	close(goOn)
	wait.Wait()
	return errs
}

// The other changes of the group are committed together.
func TestFailedChangeDoesNotAffectItsGroup(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewRegistry()
	db := sqlstoretest.Open(t, sqlstore.Config{Data: t.TempDir()}, reg)
	want := errors.New("no")
	errs := inOneGroup(
		t, db,
		func(tx *sqlstore.Tx) error { return set(tx, "a", "1") },
		func(tx *sqlstore.Tx) error { return errors.Join(set(tx, "b", "2"), set(tx, "a", "x"), want) },
		func(tx *sqlstore.Tx) error {
			_, err := tx.Exec("INSERT INTO setting (name) VALUES ($1)", "no value")
			return err
		},
		func(tx *sqlstore.Tx) error { return set(tx, "c", "3") },
	)
	switch {
	case errs[0] != nil:
		t.Errorf("errs[0] = %v, want nil", errs[0])
	case !errors.Is(errs[1], want):
		t.Errorf("got error %v, want %v", errs[1], want)
	case errs[2] == nil:
		t.Error("errs[2] is nil")
	case unavailable(errs[2]):
		t.Errorf("the four got %v", errs)
	case errs[3] != nil:
		t.Errorf("errs[3] = %v, want nil", errs[3])
	}
	wantSettings(t, db, "a=1", "c=3")
	if got := counter(t, reg, "vayu_state_commits_total"); got != 2 {
		t.Errorf("there were %v commits, want one of the busy writer and one for the four", got)
	}
}

// leavePages limits the store to its size and the given number of pages.
func leavePages(tb testing.TB, db *sqlstore.DB, pages int) {
	tb.Helper()
	sqlstoretest.Update(tb, db, func(tx *sqlstore.Tx) error {
		var count, maximum int
		if err := tx.QueryRow("PRAGMA page_count").Scan(&count); err != nil {
			return err
		}
		return tx.QueryRow("PRAGMA max_page_count = " + strconv.Itoa(count+pages)).Scan(&maximum)
	})
}

// No change of the group is acknowledged. With space the store continues.
func TestFullDiskFailsOnlyTheGroup(t *testing.T) {
	t.Parallel()
	big := func(name string) func(*sqlstore.Tx) error {
		return func(tx *sqlstore.Tx) error {
			_, err := tx.Exec("INSERT INTO setting (name, value) VALUES ($1, hex(zeroblob(1000000)))", name)
			return err
		}
	}
	silent := func(tx *sqlstore.Tx) error { _ = big("b")(tx); return nil }
	for name, do := range map[string]func(*sqlstore.Tx) error{"told": big("b"), "kept to itself": silent} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reg := prometheus.NewRegistry()
			db := sqlstoretest.Open(t, sqlstore.Config{Data: t.TempDir()}, reg)
			sqlstoretest.Update(t, db, func(tx *sqlstore.Tx) error { return set(tx, "before", "1") })
			leavePages(t, db, 2)
			errs := inOneGroup(
				t, db,
				func(tx *sqlstore.Tx) error { return set(tx, "a", "1") },
				do,
				func(tx *sqlstore.Tx) error { return set(tx, "c", "3") },
			)
			for i, err := range errs {
				if !unavailable(err) {
					t.Errorf("change %d of the group got %v, want service_unavailable", i, err)
				}
			}
			if got := counter(t, reg, "vayu_state_faults_total"); got != 3 {
				t.Errorf("%v faults were counted, want 3", got)
			}
			wantSettings(t, db, "before=1")
			if err := db.Check(t.Context()); err == nil {
				t.Error("Check succeeds for a store that cannot write")
			}
			sqlstoretest.Update(t, db, func(tx *sqlstore.Tx) error { return set(tx, "small", "1") })
			if err := db.Check(t.Context()); err != nil {
				t.Errorf("a store that writes again: %v", err)
			}
			leavePages(t, db, 1000)
			sqlstoretest.Update(t, db, big("big"))
			var length int
			if err := db.View(t.Context()).QueryRow("SELECT length(value) FROM setting WHERE name = 'big'").Scan(&length); err != nil || length != 2_000_000 {
				t.Errorf("with space the row has %d characters, %v, want 2000000", length, err)
			}
		})
	}
}

// The row that caused the error is rolled back too.
func TestFailedGroupIsRolledBack(t *testing.T) {
	t.Parallel()
	db := sqlstoretest.SQLite(t)
	taken := schema.NewProblem(schema.ConflictingParameters, "name", "This name is taken.")
	errs := inOneGroup(
		t, db,
		func(tx *sqlstore.Tx) error { return set(tx, "name", "first") },
		func(tx *sqlstore.Tx) error {
			var owner string
			if err := tx.QueryRow("SELECT value FROM setting WHERE name = 'name'").Scan(&owner); err != nil {
				return err
			}
			return taken
		},
		func(tx *sqlstore.Tx) error { // COMMIT will fail: a parent is missing
			if _, err := tx.Exec("PRAGMA defer_foreign_keys = 1"); err != nil {
				return err
			}
			_, err := tx.Exec("INSERT INTO audit_head (account_id, mode, seq, hash) VALUES ('acc_nobody', 'live', 1, $1)", []byte{1})
			return err
		},
	)
	for i, err := range errs {
		if !unavailable(err) || errors.Is(err, taken) {
			t.Errorf("change %d of the group got %v, want service_unavailable", i, err)
		}
	}
	wantSettings(t, db)
}

// The busy timeout of the writer is restored.
func TestFailedCheckpointRestoresBusyTimeout(t *testing.T) {
	t.Parallel()
	db := sqlstoretest.SQLite(t)
	busyTimeout := func(tx *sqlstore.Tx) (ms int) {
		if err := tx.QueryRow("PRAGMA busy_timeout").Scan(&ms); err != nil {
			t.Error(err)
		}
		return ms
	}
	sqlstoretest.Update(t, db, func(tx *sqlstore.Tx) error { return set(tx, "a", "1") }) // so that a checkpoint has work
	sqlstoretest.Update(t, db, func(tx *sqlstore.Tx) error {
		before := busyTimeout(tx)
		if err := db.CheckpointNow(t.Context()); err == nil {
			t.Error("a checkpoint within a transaction succeeded: the test is void")
		}
		if after := busyTimeout(tx); after != before || after == 0 {
			t.Errorf("the writer waits for %d ms, want %d as before", after, before)
		}
		return nil
	})
}

// The next change opens a new connection.
func TestBrokenWriterConnectionIsReplaced(t *testing.T) {
	t.Parallel()
	db := sqlstoretest.SQLite(t)
	sqlstoretest.Update(t, db, func(tx *sqlstore.Tx) error { return set(tx, "a", "1") })
	if err := db.Update(t.Context(), func(tx *sqlstore.Tx) error {
		_, err := tx.Exec("ROLLBACK") // ends the transaction of the group unnoticed
		return err
	}); !unavailable(err) {
		t.Errorf("a change whose transaction ended got %v, want service_unavailable", err)
	}
	sqlstoretest.Update(t, db, func(tx *sqlstore.Tx) error { return set(tx, "b", "2") })
	wantSettings(t, db, "a=1", "b=2")
}

// The log grows while a reader uses an old snapshot, and is truncated afterwards.
func TestWALIsBounded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db := sqlstoretest.Open(t, sqlstore.Config{Data: dir})
	size := func() int64 {
		info, err := os.Stat(filepath.Join(dir, "state.db-wal"))
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	const maximum = 1 << 20
	write := func(piece byte) {
		sqlstoretest.Update(t, db, func(tx *sqlstore.Tx) error {
			_, err := tx.Exec("INSERT INTO seen_signature (key_id, signature, expires_at) VALUES ($1, $2, 0)", "key", bytes.Repeat([]byte{piece}, maximum/4))
			return err
		})
	}
	old, err := db.Pool().BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := old.QueryRow("SELECT count(*) FROM setting").Scan(&n); err != nil {
		t.Fatal(err)
	}
	for i := range 8 {
		write(byte(i))
	}
	if size() <= maximum {
		t.Fatalf("beside a long reader the log has %d bytes only: the test is void", size())
	}
	if err := old.QueryRow("SELECT count(*) FROM setting").Scan(&n); err != nil || n != 0 {
		t.Errorf("the long reader sees %d settings, %v, want those of its snapshot", n, err)
	}
	if err := old.Rollback(); err != nil {
		t.Fatal(err)
	}
	sqlstoretest.Update(t, db, func(*sqlstore.Tx) error { db.LimitWAL(maximum); return nil })
	sqlstoretest.Update(t, db, func(*sqlstore.Tx) error { return nil }) // after the check
	if size() > maximum {
		t.Errorf("after the long reader the log has %d bytes, want %d at most", size(), maximum)
	}
}
