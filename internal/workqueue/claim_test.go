package workqueue

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/internal/testing/fixture"
)

// A poll leases due rows, and marks them as sent before the call starts. After the lease
// expires, another claim is possible, and the row still counts as sent.
func TestPollLeasesDueRows(t *testing.T) {
	t.Parallel()
	eachQueueFixture(t, func(t *testing.T, s *queueFixture) {
		id := s.add(time.Second, "")
		s.Poll(t.Context(), s.pool)
		if len(s.claims) != 0 || s.row(id) != "sent 0 due 1s" {
			t.Errorf("too early it is %s", s.row(id))
		}
		s.clock.Advance(time.Second)
		s.Poll(t.Context(), s.pool)
		// A call of 10 s can begin up to 30 s after the claim.
		if got := s.row(id); got != "sent 1 due 41s at 31s leased" || len(s.claims) != 1 || !s.claims[0].First {
			t.Errorf("it is %s, begun %+v", got, s.claims)
		}
		token := s.claims[0].Lease.Token
		s.finishCalls()
		s.clock.Advance(39 * time.Second)
		s.Poll(t.Context(), s.pool)
		if len(s.claims) != 0 {
			t.Errorf("within its lease it was claimed: %+v", s.claims)
		}
		s.clock.Advance(time.Second)
		s.Poll(t.Context(), s.pool)
		switch got := s.row(id); {
		case got != "sent 1 due 1m21s at 31s leased":
			t.Errorf("got %v, want %v", got, "sent 1 due 1m21s at 31s leased")
		case len(s.claims) != 1:
			t.Errorf("len(s.claims) = %v, want 1", len(s.claims))
		case s.claims[0].First:
			t.Error("s.claims[0].First is true")
		case s.claims[0].Lease.Token == token:
			t.Errorf("s.claims[0].Lease.Token is %v, want another", token)
		}
		s.finishCalls()
	})
}

// On SQLite the leases of another process expire at once, and its calls count as ended.
func TestOnlyForeignLeasesExpire(t *testing.T) {
	t.Parallel()
	db := sqlstoretest.SQLite(t)
	sqlstoretest.Exec(t, db, jobTable)
	s := newQueueFixture(t, db)
	id := s.add(0, "b")
	s.Poll(t.Context(), s.pool)
	free := func(want string) {
		t.Helper()
		if err := s.ExpireForeignLeases(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := s.row(id); got != want {
			t.Errorf("it is %s, want %s", got, want)
		}
	}
	free("sent 1 due 40s at 30s leased")
	s.finishCalls()
	s.restart()
	s.clock.Advance(time.Second)
	free("sent 1 due 1s at 1s")
}

// Two instances claim each row once, and a failed poll is counted.
func TestEachRowIsClaimedOnce(t *testing.T) {
	t.Parallel()
	db := sqlstoretest.Postgres(t)
	sqlstoretest.Exec(t, db, jobTable)
	one, other := newQueueFixture(t, db), newQueueFixture(t, db)
	const n = 40
	var want []string
	for range n / 2 {
		want = append(want, one.add(0, ""), one.add(0, "b"))
	}
	var got []string
	for range n {
		var both sync.WaitGroup
		for _, s := range []*queueFixture{one, other} {
			both.Go(func() { s.Poll(t.Context(), s.pool) })
		}
		both.Wait()
		got = append(got, slices.Concat(one.finishCalls(), other.finishCalls())...)
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("claimed (-want +got):\n%s", diff)
	}
	reg := prometheus.NewRegistry()
	reg.MustRegister(one.failed)
	sqlstoretest.Exec(t, db, "DROP TABLE job")
	if pause := one.Poll(t.Context(), one.pool); pause != RetryPause {
		t.Errorf("without its table it polls again after %s, want %s", pause, RetryPause)
	}
	if got := fixture.MetricValue(t, reg, "failed_total"); got != 1 {
		t.Errorf("%v failures are counted, want 1", got)
	}
}

// Run starts the calls of due rows. At the end it waits for those in flight, and no
// further call starts.
func TestRun(t *testing.T) {
	t.Parallel()
	eachQueueFixture(t, func(t *testing.T, s *queueFixture) {
		ctx, cancel := context.WithCancel(t.Context())
		var run sync.WaitGroup
		run.Go(func() { s.Run(ctx) })
		id := s.add(0, "")
		s.pool.Wake()
		begun := func() bool {
			s.mu.Lock()
			defer s.mu.Unlock()
			return len(s.claims) == 1
		}
		fixture.Eventually(t, "it is begun", begun)
		cancel()
		fixture.Eventually(t, "it has stopped", s.Stopped)
		if s.pool.TryAcquire(false) {
			t.Error("a call begins when it has stopped")
		}
		if got := s.finishCalls(); !slices.Equal(got, []string{id}) {
			t.Errorf("begun were %q", got)
		}
		run.Wait()
	})
}
