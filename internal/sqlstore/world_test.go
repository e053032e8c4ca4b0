package sqlstore_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

// order records the order of changes.
type order struct {
	mu    sync.Mutex
	names []string
}

func (o *order) note(name string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.names = append(o.names, name)
}

// queued holds changes of both worlds that wait for the writer of SQLite, which is blocked until free is
// called.
type queued struct {
	tb   testing.TB
	db   *sqlstore.DB
	wait sync.WaitGroup
	free func()
	n    int
}

func newQueued(tb testing.TB, db *sqlstore.DB) *queued {
	tb.Helper()
	began, goOn := make(chan struct{}), make(chan struct{})
	q := &queued{tb: tb, db: db, free: func() { close(goOn) }}
	q.update(schema.Live, func() { close(began); <-goOn })
	<-began
	return q
}

// update makes a change in a goroutine of its own.
func (q *queued) update(w schema.World, do func()) {
	q.wait.Go(func() {
		if err := q.db.Update(sqlstore.WithWorld(context.Background(), w), func(*sqlstore.Tx) error { do(); return nil }); err != nil {
			q.tb.Error(err)
		}
	})
}

// add queues a change, and returns when it waits.
func (q *queued) add(w schema.World, do func()) {
	q.n++
	q.update(w, do)
	for q.db.QueuedChanges() < q.n {
		runtime.Gosched()
	}
}

// Live changes do not wait behind those of the sandbox. Each commit includes one of the sandbox, so that it
// always progresses.
func TestLiveChangesPrecedeSandboxChanges(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewRegistry()
	db := sqlstoretest.Open(t, sqlstore.Config{Data: t.TempDir()}, reg)
	q, got := newQueued(t, db), order{}
	for _, name := range []string{"s1", "s2", "s3", "l1", "s4", "l2"} {
		world := schema.Live
		if strings.HasPrefix(name, "s") {
			world = schema.Sandbox
		}
		q.add(world, func() { got.note(name) })
	}
	q.free()
	q.wait.Wait()
	// The group of the busy writer includes the first of the sandbox.
	if diff := cmp.Diff([]string{"s1", "l1", "l2", "s2", "s3", "s4"}, got.names); diff != "" {
		t.Errorf("the order (-want +got):\n%s", diff)
	}
	if got := counter(t, reg, "vayu_state_commits_total"); got != 3 {
		t.Errorf("there were %v commits, want 3", got)
	}
}

// A live change that arrives during a group of sandbox changes waits for the current one only.
func TestSandboxGroupYieldsToLiveChange(t *testing.T) {
	t.Parallel()
	db := sqlstoretest.Open(t, sqlstore.Config{Data: t.TempDir()}, prometheus.NewRegistry())
	q, got := newQueued(t, db), order{}
	q.add(schema.Sandbox, func() { got.note("s1") }) // joins the busy writer's group
	q.add(schema.Sandbox, func() {
		got.note("s2")
		q.update(schema.Live, func() { got.note("l1") })
		for db.QueuedChanges() < 3 { // s3, s4 and the live change
			runtime.Gosched()
		}
	})
	q.add(schema.Sandbox, func() { got.note("s3") })
	q.add(schema.Sandbox, func() { got.note("s4") })
	q.free()
	q.wait.Wait()
	if diff := cmp.Diff([]string{"s1", "s2", "l1", "s3", "s4"}, got.names); diff != "" {
		t.Errorf("the order (-want +got):\n%s", diff)
	}
}

// On PostgreSQL the sandbox uses a part of the connections, so that a live change always gets one.
func TestSandboxConnectionsAreLimited(t *testing.T) {
	t.Parallel()
	const connections, share = 8, 2
	db := sqlstoretest.Open(t, sqlstore.Config{DSN: sqlstoretest.PostgresDSN(t), Settings: sqlstore.Settings{Connections: connections}}, prometheus.NewRegistry())
	sandbox := sqlstore.WithWorld(t.Context(), schema.Sandbox)
	began, goOn := make(chan struct{}), make(chan struct{})
	var wait sync.WaitGroup
	for range share {
		wait.Go(func() {
			if err := db.Update(sandbox, func(*sqlstore.Tx) error { began <- struct{}{}; <-goOn; return nil }); err != nil {
				t.Error(err)
			}
		})
		<-began
	}
	limit, cancel := context.WithTimeout(sandbox, 100*time.Millisecond)
	defer cancel()
	if err := db.Update(limit, func(*sqlstore.Tx) error { return nil }); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("one more of the sandbox got %v, want that it waits", err)
	}
	sqlstoretest.Update(t, db, func(tx *sqlstore.Tx) error { return set(tx, "live", "1") })
	close(goOn)
	wait.Wait()
	if err := db.Update(sandbox, func(tx *sqlstore.Tx) error { return set(tx, "sandbox", "1") }); err != nil {
		t.Errorf("the sandbox afterwards: %v", err)
	}
}
