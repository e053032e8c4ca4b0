package sqlstore_test

import (
	"context"
	"errors"
	"net"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"vayu/internal/config"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
)

// relay is a port in front of a server, which can close with all its connections.
type relay struct {
	listener net.Listener
	mu       sync.Mutex
	conns    []net.Conn
	gone     bool
}

func newRelay(t *testing.T, server string) *relay {
	t.Helper()
	r := new(relay)
	r.listener = port(t, func() string { return server }, func(client, upstream net.Conn) {
		if r.keep(client, upstream) {
			go pass(upstream, client, forwardAll)
			go pass(client, upstream, forwardAll)
		}
	})
	t.Cleanup(r.leave)
	return r
}

// keep registers connections, unless the relay is closed.
func (r *relay) keep(conns ...net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.conns = append(r.conns, conns...)
	if r.gone {
		for _, c := range conns {
			_ = c.Close()
		}
	}
	return !r.gone
}

func (r *relay) leave() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gone = true
	_ = r.listener.Close()
	for _, c := range r.conns {
		_ = c.Close()
	}
}

// loadCount counts changes: those acknowledged, and those whose outcome is unknown.
type loadCount struct{ done, unknown atomic.Int64 }

// load writes and reads from several goroutines until stop is called, and counts the changes. An error must be one
// that the API answers with a 503.
func load(t *testing.T, db *sqlstore.DB) (count *loadCount, stop func()) {
	t.Helper()
	count = new(loadCount)
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for ctx.Err() == nil {
				err := db.Update(context.WithoutCancel(ctx), func(tx *sqlstore.Tx) error {
					_, err := tx.Exec("UPDATE setting SET value = CAST(CAST(value AS BIGINT) + 1 AS TEXT) WHERE name = 'n'")
					return err
				})
				switch {
				case err == nil:
					count.done.Add(1)
				case !unavailable(err):
					t.Errorf("a change got %v, want service_unavailable", err)
				case strings.Contains(err.Error(), "it is not known whether"):
					count.unknown.Add(1)
				}
				var value string
				if err := db.View(context.WithoutCancel(ctx)).QueryRow("SELECT value FROM setting WHERE name = 'n'").Scan(&value); err != nil && !unavailable(err) {
					t.Errorf("a reader got %v, want service_unavailable", err)
				}
			}
		})
	}
	return count, func() { cancel(); all.Wait() }
}

// await waits until more changes are done.
func await(t *testing.T, count *loadCount, more int64) {
	t.Helper()
	done := &count.done
	limit := time.After(5 * time.Minute)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for target := done.Load() + more; done.Load() < target; {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("%d changes are missing", target-done.Load())
		}
	}
}

// wantCount compares the counter with the acknowledged changes: none is lost or applied twice. A change whose outcome
// is unknown may be in the store.
func wantCount(t *testing.T, db *sqlstore.DB, count *loadCount) {
	t.Helper()
	var got int64
	if err := db.View(t.Context()).QueryRow("SELECT CAST(value AS BIGINT) FROM setting WHERE name = 'n'").Scan(&got); err != nil {
		t.Fatal(err)
	}
	if least, most := count.done.Load(), count.done.Load()+count.unknown.Load(); got < least || got > most {
		t.Errorf("%d changes are in the store, want %d to %d", got, least, most)
	}
}

// The store recovers when every connection is closed repeatedly.
func TestStoreSurvivesLostConnections(t *testing.T) {
	t.Parallel()
	dsn := sqlstoretest.PostgresDSN(t)
	other := sqlstoretest.Open(t, sqlstore.Config{DSN: named(dsn, "other")})
	db := sqlstoretest.Open(t, sqlstore.Config{DSN: named(dsn, "victim"), Settings: sqlstore.Settings{Connections: 4}})
	sqlstoretest.Update(t, db, func(tx *sqlstore.Tx) error { return set(tx, "n", "0") })
	count, stop := load(t, db)
	defer stop()
	for range 5 {
		await(t, count, 20)
		terminate(t, other, "victim")
	}
	await(t, count, 20)
	stop()
	wantCount(t, db, count)
}

// The first of two hosts closes under load, and the second takes over.
func TestFailoverToSecondHost(t *testing.T) {
	t.Parallel()
	address, err := url.Parse(string(sqlstoretest.PostgresDSN(t)))
	if err != nil {
		t.Fatal(err)
	}
	first, second := newRelay(t, address.Host), newRelay(t, address.Host)
	address.Host = first.listener.Addr().String() + "," + second.listener.Addr().String()
	db := sqlstoretest.Open(t, sqlstore.Config{DSN: config.DSN(address.String() + "&target_session_attrs=read-write"), Settings: sqlstore.Settings{Connections: 4}})
	sqlstoretest.Update(t, db, func(tx *sqlstore.Tx) error { return set(tx, "n", "0") })
	count, stop := load(t, db)
	defer stop()
	await(t, count, 20)
	first.leave()
	await(t, count, 50)
	stop()
	wantCount(t, db, count)
}

// A first host that never answers is left for the second, also by the first query.
func TestSilentFirstHostIsSkipped(t *testing.T) {
	t.Parallel()
	dsn := sqlstoretest.PostgresDSN(t)
	sqlstoretest.Update(t, sqlstoretest.Open(t, sqlstore.Config{DSN: dsn}), func(tx *sqlstore.Tx) error { return set(tx, "a", "1") })
	address, err := url.Parse(string(dsn))
	if err != nil {
		t.Fatal(err)
	}
	silent := port(t, func() string { return address.Host }, func(client, server net.Conn) {
		go pass(server, client, func() action { return drop })
	})
	through := *address
	through.Host = silent.Addr().String() + "," + address.Host
	db := sqlstoretest.Open(t, sqlstore.Config{DSN: config.DSN(through.String()), Settings: sqlstore.Settings{StatementTimeout: 20 * time.Second}})
	wantSettings(t, db, "a=1") // on a new connection, after that of the start was closed
	if err := db.Check(t.Context()); err != nil {
		t.Errorf("a reader got %v", err)
	}
	sqlstoretest.Update(t, db, func(tx *sqlstore.Tx) error { return set(tx, "a", "2") })
	wantSettings(t, db, "a=2")
}

// The primary becomes a standby. Until there is a primary again a change is a 503; then it succeeds.
func TestReadOnlyServerIsLeft(t *testing.T) {
	t.Parallel()
	dsn := sqlstoretest.PostgresDSN(t)
	other := sqlstoretest.Open(t, sqlstore.Config{DSN: named(dsn, "other")})
	db := sqlstoretest.Open(t, sqlstore.Config{DSN: named(dsn, "victim") + "&target_session_attrs=read-write", Settings: sqlstore.Settings{Connections: 2}})
	sqlstoretest.Update(t, db, func(tx *sqlstore.Tx) error { return set(tx, "a", "1") })
	for _, readOnly := range []string{"on", "off"} {
		if err := other.Update(t.Context(), func(tx *sqlstore.Tx) error {
			_, err := tx.Exec("DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = " + readOnly + "', current_database()); END $$")
			return err
		}); err != nil {
			t.Fatal(err)
		}
		terminate(t, other, "victim")
		err := db.Update(t.Context(), func(tx *sqlstore.Tx) error { return set(tx, "a", "2") })
		if readOnly == "on" && !unavailable(err) || readOnly == "off" && err != nil {
			t.Errorf("read-only %s: got %v", readOnly, err)
		}
	}
	wantSettings(t, db, "a=2")
}

// A pooler in transaction mode needs this.
func TestPoolerModesPrepareNoStatements(t *testing.T) {
	t.Parallel()
	dsn := sqlstoretest.PostgresDSN(t)
	for _, mode := range []config.DSN{"exec", "simple_protocol"} {
		db := sqlstoretest.Open(t, sqlstore.Config{DSN: dsn + "&default_query_exec_mode=" + mode})
		sqlstoretest.Update(t, db, func(tx *sqlstore.Tx) error { return set(tx, "a", string(mode)) })
		wantSettings(t, db, "a="+string(mode))
		var prepared int
		if err := db.View(t.Context()).QueryRow("SELECT count(*) FROM pg_prepared_statements").Scan(&prepared); err != nil || prepared != 0 {
			t.Errorf("%s: %d statements are prepared (%v), want none", mode, prepared, err)
		}
	}
}

func TestSettingsReachTheServer(t *testing.T) {
	t.Parallel()
	db := sqlstoretest.Open(t, sqlstore.Config{DSN: sqlstoretest.PostgresDSN(t), Settings: sqlstore.Settings{StatementTimeout: 7 * time.Second, LockTimeout: 3 * time.Second, IdleTimeout: 20 * time.Second}})
	for name, want := range map[string]string{"statement_timeout": "7s", "lock_timeout": "3s", "idle_in_transaction_session_timeout": "20s"} {
		var got string
		if err := db.View(t.Context()).QueryRow("SHOW " + name).Scan(&got); err != nil || got != want {
			t.Errorf("%s is %q (%v), want %q", name, got, err, want)
		}
	}
	wrong := sqlstore.Settings{StatementTimeout: 1, LockTimeout: 2, IdleTimeout: 1}
	if faults := wrong.Validate(); len(faults) != 4 {
		t.Errorf("got %v, want four faults", errors.Join(faults...))
	}
	if faults := sqlstore.DefaultSettings().Validate(); len(faults) != 0 {
		t.Errorf("the defaults have faults: %v", faults)
	}
}

// The server of a pooled connection becomes a standby without closing it.
func TestReadOnlyConnectionIsLeft(t *testing.T) {
	t.Parallel()
	db := sqlstoretest.Open(t, sqlstore.Config{DSN: sqlstoretest.PostgresDSN(t), Settings: sqlstore.Settings{Connections: 1}})
	sqlstoretest.Update(t, db, func(tx *sqlstore.Tx) error {
		_, err := tx.Exec("SET default_transaction_read_only = on")
		return err
	})
	if err := db.Update(t.Context(), func(tx *sqlstore.Tx) error { return set(tx, "a", "1") }); !unavailable(err) {
		t.Errorf("got %v, want service_unavailable", err)
	}
	sqlstoretest.Update(t, db, func(tx *sqlstore.Tx) error { return set(tx, "a", "2") })
	wantSettings(t, db, "a=2")
}
