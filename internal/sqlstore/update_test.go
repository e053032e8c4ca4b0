package sqlstore_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

// set inserts a setting.
func set(tx *sqlstore.Tx, name, value string) error {
	_, err := tx.Exec(`INSERT INTO setting (name, value) VALUES ($1, $2)
		ON CONFLICT (name) DO UPDATE SET value = excluded.value`, name, value)
	return err
}

// settings reads all settings as name=value.
func settings(tb testing.TB, db *sqlstore.DB) []string {
	tb.Helper()
	got, err := sqlstore.All(db.View(context.Background()), func(row sqlstore.Scanner) (string, error) {
		var name, value string
		err := row.Scan(&name, &value)
		return name + "=" + value, err
	}, "SELECT name, value FROM setting ORDER BY name")
	if err != nil {
		tb.Fatal(err)
	}
	return got
}

func wantSettings(tb testing.TB, db *sqlstore.DB, want ...string) {
	tb.Helper()
	if diff := cmp.Diff(want, settings(tb, db)); diff != "" {
		tb.Errorf("settings (-want +got):\n%s", diff)
	}
}

// unavailable reports whether a client gets service_unavailable.
func unavailable(err error) bool {
	var problem *schema.Problem
	return errors.As(err, &problem) && problem.Code == schema.ServiceUnavailable && problem.Retryable
}

// A change is visible to readers, and after a restart.
func TestChangeIsDurable(t *testing.T) {
	t.Parallel()
	for name, config := range sqlstoretest.Fresh {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := config(t)
			db, stop := sqlstoretest.Start(t, c)
			if db.Name() != name {
				t.Errorf("the store is called %q, want %q", db.Name(), name)
			}
			sqlstoretest.Update(t, db, func(tx *sqlstore.Tx) error { return errors.Join(set(tx, "a", "1"), set(tx, "b", "2")) })
			wantSettings(t, db, "a=1", "b=2")
			if err := db.Check(t.Context()); err != nil {
				t.Error(err)
			}
			stop()
			wantSettings(t, sqlstoretest.Open(t, c), "a=1", "b=2")
		})
	}
}

func TestErrorRollsBackChange(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		want := errors.New("no")
		err := db.Update(t.Context(), func(tx *sqlstore.Tx) error {
			if err := set(tx, "a", "1"); err != nil {
				return err
			}
			return want
		})
		if !errors.Is(err, want) {
			t.Errorf("the caller got %v, want its own error", err)
		}
		wantSettings(t, db)
	})
}

func TestPanicRollsBackChangeAndPropagates(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		func() {
			defer func() {
				if got := recover(); got != "ouch" {
					t.Errorf("the caller recovered %v, want ouch", got)
				}
			}()
			_ = db.Update(t.Context(), func(tx *sqlstore.Tx) error {
				_ = set(tx, "a", "1")
				panic("ouch")
			})
		}()
		wantSettings(t, db)
		sqlstoretest.Update(t, db, func(tx *sqlstore.Tx) error { return set(tx, "b", "2") })
		wantSettings(t, db, "b=2")
	})
}

// The change fails even if its function ignores the error.
func TestFailedStatementFailsChange(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		sqlstoretest.Update(t, db, func(tx *sqlstore.Tx) error { return set(tx, "a", "1") })
		err := db.Update(t.Context(), func(tx *sqlstore.Tx) error {
			_ = set(tx, "b", "2")
			_, _ = tx.Exec("INSERT INTO setting (name, value) VALUES ($1, $2)", "a", "again")
			return nil
		})
		if err == nil || unavailable(err) {
			t.Errorf("a change whose statement failed gave %v, want the statement's error", err)
		}
		wantSettings(t, db, "a=1")
	})
}

// An UPDATE with RETURNING is a lock on both engines.
func TestConcurrentCounterUpdates(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		const callers, each = 16, 20
		seen := make([]bool, callers*each+1)
		var mu sync.Mutex
		var wait sync.WaitGroup
		for range callers {
			wait.Go(func() {
				for range each {
					var n int64
					if err := db.Update(context.Background(), func(tx *sqlstore.Tx) error {
						return tx.QueryRow("UPDATE access_revision SET n = n + 1 WHERE id = $1 RETURNING n", 1).Scan(&n)
					}); err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					if seen[n] {
						t.Errorf("%d was returned twice", n)
					}
					seen[n] = true
					mu.Unlock()
				}
			})
		}
		wait.Wait()
		var n int
		if err := db.View(t.Context()).QueryRow("SELECT n FROM access_revision").Scan(&n); err != nil || n != callers*each {
			t.Errorf("the counter is %d, %v, want %d", n, err, callers*each)
		}
	})
}

func TestReadersSeeCommittedDataOnly(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		sqlstoretest.Update(t, db, func(tx *sqlstore.Tx) error {
			if err := set(tx, "a", "1"); err != nil {
				return err
			}
			wantSettings(t, db) // through another connection, during the change
			var own string
			return tx.QueryRow("SELECT value FROM setting WHERE name = $1", "a").Scan(&own)
		})
		wantSettings(t, db, "a=1")
	})
}

// The context ends before the call, or while the change is queued.
func TestCancelledCallerChangesNothing(t *testing.T) {
	t.Parallel()
	t.Run("before", func(t *testing.T) {
		t.Parallel()
		sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if err := db.Update(ctx, func(tx *sqlstore.Tx) error { return set(tx, "a", "1") }); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v, want %v", err, context.Canceled)
			}
			sqlstoretest.Update(t, db, func(tx *sqlstore.Tx) error { return set(tx, "b", "2") })
			wantSettings(t, db, "b=2")
		})
	})
	t.Run("while it waits", func(t *testing.T) {
		t.Parallel()
		db := sqlstoretest.SQLite(t) // PostgreSQL has no queue
		began, goOn := make(chan struct{}), make(chan struct{})
		var wait sync.WaitGroup
		wait.Go(func() {
			_ = db.Update(context.Background(), func(*sqlstore.Tx) error { close(began); <-goOn; return nil })
		})
		<-began
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(10*time.Millisecond, cancel)
		if err := db.Update(ctx, func(tx *sqlstore.Tx) error { return set(tx, "a", "1") }); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want %v while the writer is busy", err, context.Canceled)
		}
		close(goOn)
		wait.Wait()
		sqlstoretest.Update(t, db, func(tx *sqlstore.Tx) error { return set(tx, "b", "2") })
		wantSettings(t, db, "b=2")
	})
	t.Run("when it has begun", func(t *testing.T) {
		t.Parallel()
		sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
			ctx, cancel := context.WithCancel(t.Context())
			if err := db.Update(ctx, func(tx *sqlstore.Tx) error { cancel(); return set(tx, "a", "1") }); err != nil {
				t.Errorf("got %v, want the outcome of the started change", err)
			}
			wantSettings(t, db, "a=1")
		})
	})
}

// Callers arrive while the store stops and after it.
func TestCallersReturnAfterStop(t *testing.T) {
	t.Parallel()
	for name, config := range sqlstoretest.Fresh {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := config(t)
			db, stop := sqlstoretest.Start(t, c)
			const callers = 32
			done := make([]int, callers)
			var wait sync.WaitGroup
			for i := range callers {
				wait.Go(func() {
					for {
						err := db.Update(context.Background(), func(tx *sqlstore.Tx) error { return set(tx, fmt.Sprint("caller", i), fmt.Sprint(done[i]+1)) })
						if err != nil {
							if !unavailable(err) {
								t.Errorf("a caller at the end got %v, want service_unavailable", err)
							}
							return
						}
						if done[i]++; done[i] == 3 && i == 0 {
							go stop()
						}
					}
				})
			}
			wait.Wait()
			stop()
			if err := db.Check(t.Context()); !unavailable(err) {
				t.Errorf("a reader after the end got %v, want service_unavailable", err)
			}
			again := sqlstoretest.Open(t, c)
			for i, n := range done {
				var got int
				err := again.View(t.Context()).QueryRow("SELECT CAST(value AS BIGINT) FROM setting WHERE name = $1", fmt.Sprint("caller", i)).Scan(&got)
				if got != n && (n > 0 || !errors.Is(err, sql.ErrNoRows)) {
					t.Errorf("caller %d got %d acknowledgements, and the store has %d changes, %v", i, n, got, err)
				}
			}
		})
	}
}

func TestValuesRoundTrip(t *testing.T) {
	t.Parallel()
	type value struct {
		Bytes []byte
		Int   int64
		Text  string
		Null  *int64
	}
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		for i, want := range []value{
			{Bytes: []byte{0, 1, 0xff, '\'', 0}, Int: math.MaxInt64, Text: "हिन्दी, \"quoted\", $1"},
			{Bytes: bytes.Repeat([]byte{7}, 100_000), Int: math.MinInt64, Text: ""},
			{Bytes: []byte{}, Int: 1<<53 + 1, Text: "\u2028\t\n"},
		} {
			sqlstoretest.Update(t, db, func(tx *sqlstore.Tx) error {
				id := fmt.Sprint("acc_", i)
				if _, err := tx.Exec(`INSERT INTO account (id, name, plan, allow_list, created_at, revision) VALUES ($1, $1, $2, $3, $4, $4)`, id, "free", want.Text, want.Int); err != nil {
					return err
				}
				_, err := tx.Exec(`INSERT INTO idempotent_reply (account_id, mode, key, fingerprint, status, body, expires_at) VALUES ($1, 'live', 'k', $2, 200, $2, $3)`, id, want.Bytes, want.Int)
				return err
			})
			var got value
			if err := db.View(t.Context()).QueryRow(`SELECT r.body, a.created_at, a.allow_list, (SELECT warned_at FROM quota_period)
				FROM account a JOIN idempotent_reply r ON r.account_id = a.id WHERE a.id = $1 AND r.expires_at = $2`, fmt.Sprint("acc_", i), want.Int).
				Scan(&got.Bytes, &got.Int, &got.Text, &got.Null); err != nil {
				t.Fatal(err)
			}
			if len(want.Bytes) == 0 && len(got.Bytes) == 0 { // nil on SQLite
				got.Bytes = want.Bytes
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("value (-want +got):\n%s", diff)
			}
		}
	})
}

func TestForeignKeysAreEnforced(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		err := db.Update(t.Context(), func(tx *sqlstore.Tx) error {
			_, err := tx.Exec("INSERT INTO audit_head (account_id, mode, seq, hash) VALUES ($1, $2, $3, $4)", "acc_nobody", "live", 1, []byte{1})
			return err
		})
		if err == nil || unavailable(err) {
			t.Errorf("an orphan row gave %v, want an error of the statement", err)
		}
	})
}
