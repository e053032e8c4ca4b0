package sqlstore_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

// waitingGroup runs changes of one group of PostgreSQL, in their order, and returns their errors. All wait while the
// first transaction of the group runs. Then the function ready, if there is one, is called.
func waitingGroup(t *testing.T, db *sqlstore.DB, ctxs map[int]context.Context, ready func(), changes ...func(*sqlstore.Tx) error) []error {
	t.Helper()
	group := func(ctx context.Context) context.Context {
		return sqlstore.WithGroup(ctx, "test", schema.Owner{Account: "acc_1", World: schema.Live})
	}
	errs := make([]error, len(changes))
	began, goOn := make(chan struct{}), make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		if err := db.Update(group(context.Background()), func(*sqlstore.Tx) error { close(began); <-goOn; return nil }); err != nil {
			t.Error(err)
		}
	})
	<-began
	for i, do := range changes {
		ctx := ctxs[i]
		if ctx == nil {
			ctx = context.Background()
		}
		wait.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					errs[i] = errPanicked
				}
			}()
			errs[i] = db.Update(group(ctx), do)
		})
		for db.WaitingChanges() <= i {
			runtime.Gosched()
		}
	}
	if ready != nil {
		ready()
	}
	close(goOn)
	wait.Wait()
	return errs
}

var errPanicked = errors.New("the change panicked")

// put inserts a setting by Expect. It returns false if the name exists.
func put(tx *sqlstore.Tx, name, value string) (bool, error) {
	return tx.Expect(1, "INSERT INTO setting (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING", name, value)
}

func TestWaitingChangesShareCommit(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewRegistry()
	db := sqlstoretest.Open(t, sqlstore.Config{DSN: sqlstoretest.PostgresDSN(t)}, reg)
	var notices []string
	store := func(name string) func(*sqlstore.Tx) error {
		return func(tx *sqlstore.Tx) error {
			tx.OnCommit(func() {})
			_, err := put(tx, name, "1")
			values := sqlstore.AtEnd(tx, func(names *[]string, tx *sqlstore.Tx) error {
				notices = append(notices, *names...)
				return set(tx, "count", string(rune('0'+len(*names))))
			})
			*values = append(*values, name)
			return err
		}
	}
	before := counter(t, reg, "vayu_state_commits_total")
	for _, err := range waitingGroup(t, db, nil, nil, store("a"), store("b"), func(tx *sqlstore.Tx) error {
		var value string
		if err := tx.QueryRow("SELECT value FROM setting WHERE name = $1", "a").Scan(&value); err != nil || value != "1" {
			t.Errorf("a later change reads %q, %v, want the queued 1", value, err)
		}
		return nil
	}, store("c")) {
		if err != nil {
			t.Error(err)
		}
	}
	wantSettings(t, db, "a=1", "b=1", "c=1", "count=3")
	if got := counter(t, reg, "vayu_state_commits_total") - before; got != 2 { // the first transaction, and that of the group
		t.Errorf("%v commits, want 2", got)
	}
	if len(notices) != 3 {
		t.Errorf("AtEnd got %v, want the names of three changes", notices)
	}
}

// A change whose assumption is wrong, one that fails, one that panics and one whose caller gives up.
func TestChangeDoesNotAffectItsGroupOnPostgres(t *testing.T) {
	t.Parallel()
	db := sqlstoretest.Postgres(t)
	sqlstoretest.Update(t, db, func(tx *sqlstore.Tx) error { return set(tx, "taken", "0") })
	no := errors.New("no")
	gone, leave := context.WithCancel(t.Context())
	left := make(chan struct{})
	errs := waitingGroup(
		t, db, map[int]context.Context{4: gone}, leave,
		func(tx *sqlstore.Tx) error { _, err := put(tx, "a", "1"); return err },
		func(tx *sqlstore.Tx) error {
			inserted, err := put(tx, "taken", "1")
			if err == nil && !inserted {
				_, err = put(tx, "instead", "1")
			}
			return err
		},
		func(tx *sqlstore.Tx) error { _, err := put(tx, "b", "1"); return errors.Join(err, no) },
		func(tx *sqlstore.Tx) error { _, _ = put(tx, "c", "1"); panic("a fault") },
		func(*sqlstore.Tx) error { close(left); return nil },
		func(tx *sqlstore.Tx) error {
			_, err := tx.Expect(1, "INSERT INTO setting (name) VALUES ($1)", "no value")
			return err
		},
		func(tx *sqlstore.Tx) error { _, err := put(tx, "d", "1"); return err },
	)
	wantSettings(t, db, "a=1", "d=1", "instead=1", "taken=0")
	if errs[0] != nil || errs[1] != nil || errs[6] != nil {
		t.Errorf("got %v, want that the first two and the last succeed", errs)
	}
	if !errors.Is(errs[2], no) || !errors.Is(errs[3], errPanicked) || !errors.Is(errs[4], context.Canceled) || errs[5] == nil {
		t.Errorf("got %v, want the error of each change", errs)
	}
	select {
	case <-left:
		t.Error("the change of a caller that had given up was made")
	default:
	}
}

// The clients of all changes learn that the store is unavailable, and the next group uses a new connection.
func TestGroupSurvivesBrokenConnection(t *testing.T) {
	t.Parallel()
	dsn := sqlstoretest.PostgresDSN(t)
	other := sqlstoretest.Open(t, sqlstore.Config{DSN: named(dsn, "other")})
	db := sqlstoretest.Open(t, sqlstore.Config{DSN: named(dsn, "victim")})
	store := func(name string) func(*sqlstore.Tx) error {
		return func(tx *sqlstore.Tx) error { _, err := put(tx, name, "1"); return err }
	}
	errs := waitingGroup(t, db, nil, nil, store("a"), func(*sqlstore.Tx) error { terminate(t, other, "victim"); return nil }, store("b"))
	for _, err := range errs {
		if !unavailable(err) {
			t.Errorf("got %v, want service_unavailable", err)
		}
	}
	for _, err := range waitingGroup(t, db, nil, nil, store("c"), store("d")) {
		if err != nil {
			t.Error(err)
		}
	}
	wantSettings(t, db, "c=1", "d=1")
}
