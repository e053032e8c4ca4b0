package workqueue

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"vayu/internal/sqlstore/sqlstoretest"
)

// waitTimeout is the timeout of AcquireWithin.
const waitTimeout = time.Minute

// startWaiters starts n goroutines that wait for a slot, and returns their results.
func startWaiters(ctx context.Context, p *Pool, n int) <-chan bool {
	got := make(chan bool, n)
	for range n {
		go func() { got <- p.AcquireWithin(ctx, waitTimeout) }()
	}
	synctest.Wait()
	return got
}

// fullPool returns a pool of four slots in which batch items have their maximum of two.
func fullPool(t *testing.T) *Pool {
	t.Helper()
	p, err := New(Config[string]{}).Add(Provider{Timeout: time.Second, Concurrency: 4}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if !p.AcquireWithin(t.Context(), 0) {
			t.Fatal("a slot that is free was not taken")
		}
	}
	return p
}

// Each released slot goes to one waiter, until all have one.
func TestReleasedSlotGoesToAWaiter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := fullPool(t)
		got := startWaiters(t.Context(), p, 5)
		if !p.TryAcquire(false) {
			t.Fatal("a request found no slot")
		}
		p.Release(false) // which is none for a record
		synctest.Wait()
		if len(got) != 0 {
			t.Errorf("%d have one, and none was given back", len(got))
		}
		p.Release(true)
		synctest.Wait()
		if len(got) != 1 {
			t.Errorf("%d have the one that was given back", len(got))
		}
		p.Release(true) // two at once
		p.Release(true)
		synctest.Wait()
		if len(got) != 3 || p.Slots().BatchInFlight != 2 {
			t.Errorf("%d have the three that were given back, and %+v", len(got), p.Slots())
		}
		p.Release(true)
		p.Release(true)
		for range cap(got) {
			if !<-got {
				t.Error("one went without")
			}
		}
	})
}

// A waiter gives up after its timeout, unless a slot is free then.
func TestWaiterTimesOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := fullPool(t)
		began := time.Now()
		got := startWaiters(t.Context(), p, 3)
		for range cap(got) {
			if <-got {
				t.Error("a waiter has a slot that was not released")
			}
		}
		if d := time.Since(began); d != waitTimeout {
			t.Errorf("they waited for %s, want %s", d, waitTimeout)
		}
		ctx, cancel := context.WithCancel(t.Context())
		got = startWaiters(ctx, p, 3)
		cancel()
		for range cap(got) {
			if <-got {
				t.Error("a waiter has a slot that was not released")
			}
		}
		if d := time.Since(began); d != waitTimeout {
			t.Errorf("they waited until %s, although their context has ended", d)
		}
		p.Release(true)
		if got := startWaiters(t.Context(), p, 1); !<-got {
			t.Error("a slot released before the wait was not acquired")
		}
	})
}

// Waiters leave a slot to queued jobs, and are notified when none is queued.
func TestWaitersComeAfterQueuedJobs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := sqlstoretest.SQLite(t)
		sqlstoretest.Exec(t, db, jobTable)
		s := newQueueFixture(t, db)
		wait := func() <-chan bool { // two who wait, a record that is due, and two slots
			for s.pool.TryAcquire(true) {
			}
			s.add(0, "b")
			s.Poll(t.Context(), s.pool)
			got := startWaiters(t.Context(), s.pool, 2)
			s.pool.Release(true)
			s.pool.Release(true)
			synctest.Wait()
			if len(got) != 0 {
				t.Errorf("%d have a slot before what has waited in the store", len(got))
			}
			return got
		}
		got := wait()
		s.Poll(t.Context(), s.pool)
		synctest.Wait()
		if len(got) != 1 || len(s.claims) != 1 {
			t.Errorf("%d have a slot, and %d that have waited in the store, want one each", len(got), len(s.claims))
		}
		s.finishCalls()
		synctest.Wait()
		if len(got) != 2 {
			t.Error("the other has none")
		}

		got = wait()
		sqlstoretest.Exec(t, db, "DELETE FROM job WHERE due_at <= $1", s.clock.Now().UnixMicro()) // as other instances do
		s.Poll(t.Context(), s.pool)
		synctest.Wait()
		if len(got) != 2 {
			t.Errorf("%d have a slot, want both", len(got))
		}
	})
}
