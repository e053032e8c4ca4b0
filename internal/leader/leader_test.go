package leader_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/leader"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
)

// begin runs a candidate, which sends its name when it leads.
func begin(t *testing.T, db *sqlstore.DB, name string, now *atomic.Int32, led chan<- string) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- leader.Run(ctx, leader.Config{DB: db, Name: "test"}, func(ctx context.Context, _ leader.Fence) error {
			if n := now.Add(1); n != 1 {
				t.Errorf("%d leaders at a time", n)
			}
			led <- name
			<-ctx.Done()
			now.Add(-1)
			return ctx.Err()
		})
	}()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("%s ended with %v", name, err)
		}
	}
}

func rows(t *testing.T, db *sqlstore.DB) (n int) {
	t.Helper()
	if err := db.View(t.Context()).QueryRow("SELECT count(*) FROM leader").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestOneOfTwoInstancesLeads(t *testing.T) {
	t.Parallel()
	c := sqlstore.Config{DSN: sqlstoretest.PostgresDSN(t)}
	one, two := sqlstoretest.Open(t, c), sqlstoretest.Open(t, c)
	var now atomic.Int32
	led := make(chan string, 4)
	stops := map[string]func(){"one": begin(t, one, "one", &now, led), "two": begin(t, two, "two", &now, led)}
	first := <-led
	stops[first]()
	second := <-led
	if first == second {
		t.Errorf("%s leads after it was stopped", first)
	}
	stops[second]()
	if n := rows(t, one); n != 0 {
		t.Errorf("%d leases are left", n)
	}
}

// A standby takes over a lease when it expires by the server clock, and not earlier.
func TestLeaseOfCrashedLeaderIsTakenOver(t *testing.T) {
	t.Parallel()
	db := sqlstoretest.Postgres(t)
	const serverNow = "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)"
	var until int64
	if err := db.Update(t.Context(), func(tx *sqlstore.Tx) error {
		return tx.QueryRow("INSERT INTO leader (name, holder, until) VALUES ('test', 'dead', " + serverNow + " + 1500000) RETURNING until").Scan(&until)
	}); err != nil {
		t.Fatal(err)
	}
	var now atomic.Int32
	led := make(chan string, 1)
	stop := begin(t, db, "heir", &now, led)
	<-led
	var after bool
	if err := db.View(t.Context()).QueryRow("SELECT "+serverNow+" >= $1", until).Scan(&after); err != nil || !after {
		t.Errorf("the lease was taken over before its end: %v, %v", after, err)
	}
	stop()
}

// After a freeze for longer than the lease, the fence reports that another instance may
// lead.
func TestFenceFailsAfterLeaseExpiry(t *testing.T) {
	t.Parallel()
	db := sqlstoretest.Postgres(t)
	reg := prometheus.NewPedanticRegistry()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	err := leader.Run(ctx, leader.Config{DB: db, Name: "test", Metrics: reg}, func(ctx context.Context, fence leader.Fence) error {
		if err := fence(ctx); err != nil {
			t.Errorf("the fence of the leader returns %v", err)
		}
		switch all, err := reg.Gather(); {
		case err != nil:
			t.Error(err)
		case len(all) != 1:
			t.Errorf("len(all) = %v, want 1", len(all))
		case all[0].GetName() != "vayu_leader" || all[0].GetMetric()[0].GetGauge().GetValue() != 1:
			t.Errorf("while it leads the metrics are %v, %v", all, err)
		}
		sqlstoretest.Exec(t, db, "UPDATE leader SET until = 0")
		if err := fence(ctx); !errors.Is(err, leader.ErrNotLeader) {
			t.Errorf("after the lease expired the fence returns %v", err)
		}
		sqlstoretest.Exec(t, db, "UPDATE leader SET holder = 'another', until = 9223372036854775807")
		if err := fence(ctx); !errors.Is(err, leader.ErrNotLeader) {
			t.Errorf("while another instance leads the fence returns %v", err)
		}
		stop()
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestProcessLeadsAtOnceOnSQLite(t *testing.T) {
	t.Parallel()
	db := sqlstoretest.SQLite(t)
	broken := errors.New("broken")
	var now atomic.Int32
	led := make(chan string, 1)
	stop := begin(t, db, "alone", &now, led)
	<-led
	if n := rows(t, db); n != 0 {
		t.Errorf("%d rows are written, want none", n)
	}
	stop()
	if err := leader.Run(t.Context(), leader.Config{DB: db, Name: "test"}, func(context.Context, leader.Fence) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("got %v, want the error of the job", err)
	}
}
