package recharge

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/internal/testing/fixture"
	"vayu/pipeline/recharge/order"
	"vayu/pipeline/recharge/record"
	"vayu/schema"
)

// startWaiters sends n equal requests and returns when all of them wait. Got receives the
// recharge at the end of each wait.
func (s *serviceFixture) startWaiters(n int, wait time.Duration) (id string, got <-chan record.Record) {
	s.t.Helper()
	q := s.request()
	q.WaitFull = true
	all := make(chan record.Record, n)
	for range n {
		go func() {
			rec, _, err := s.Do(context.Background(), q, wait)
			if err != nil {
				s.t.Error(err)
			}
			all <- rec
		}()
	}
	fixture.Eventually(s.t, "all wait", func() bool {
		counts := s.Waiters.Counts()
		for of, waiting := range counts {
			if id = of; waiting == n && len(counts) == 1 {
				return true
			}
		}
		return false
	})
	s.Queue.Wait()
	return id, all
}

// A full wait lasts until a callback, even if the next poll is later, and for replayed
// requests, too.
func TestFullWaitForCallback(t *testing.T) {
	t.Parallel()
	eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
		s.fake.set(func() { s.fake.submit = answers(order.Answer{Outcome: order.Pending, RetryAfter: time.Hour}) })
		const n = 3
		id, got := s.startWaiters(n, longestWait)
		fixture.Eventually(t, "it is told as pending", func() bool { return s.find(id).PendingEventSent })
		s.sendResult(s.find(id), order.Answer{Outcome: order.Succeeded})
		for range n {
			if r := <-got; r.State != schema.RechargeSuccess || r.ID != id {
				t.Errorf("got %+v", r)
			}
		}
		if diff := cmp.Diff([]string{"recharge.pending", "recharge.completed"}, s.events()); diff != "" {
			t.Error(diff)
		}
		if waiting, busy := len(s.Waiters.Counts()), s.connections[0].Slots().InFlight; waiting != 0 || busy != 0 {
			t.Errorf("%d wait for ever, and %d slots are taken", waiting, busy)
		}
	})
}

// A waiting request sees the result that another instance received.
func TestFullWaitSeesOtherInstances(t *testing.T) {
	t.Parallel()
	eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
		s.fake.set(func() { s.fake.submit = answers(order.Answer{Outcome: order.Pending, RetryAfter: time.Hour}) })
		id, got := s.startWaiters(2, longestWait)
		r := s.find(id)
		s.restart(s.DB)
		s.sendResult(r, order.Answer{Outcome: order.Failed, Code: schema.InvalidNumber})
		for range 2 {
			if r := <-got; r.State != schema.RechargeFailed || r.ErrorCode != schema.InvalidNumber {
				t.Errorf("got %+v", r)
			}
		}
	})
}

// A wait ends at its time limit, or when the server stops.
func TestWaitEndsWithoutOutcome(t *testing.T) {
	t.Parallel()
	eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
		s.fake.set(func() { s.fake.submit = answers(order.Answer{Outcome: order.Pending, RetryAfter: time.Hour}) })
		q := s.request()
		q.WaitFull = true
		for i, replayed := range []bool{false, true} {
			switch r, again, err := s.Do(t.Context(), q, time.Millisecond); {
			case err != nil:
				t.Errorf("%d: %v", i, err)
			case again != replayed:
				t.Errorf("%d: again = %v, want %v", i, again, replayed)
			case r.State != schema.RechargePending:
				t.Errorf("%d: r.State = %v, want %v", i, r.State, schema.RechargePending)
			case !r.PendingEventSent:
				t.Errorf("%d: r.PendingEventSent is false", i)
			}
		}
		const n = 2
		_, got := s.startWaiters(n, longestWait)
		s.CloseWaiters()
		for range n {
			if r := <-got; r.State != schema.RechargePending {
				t.Errorf("got %+v", r)
			}
		}
		if diff := cmp.Diff([]string{"recharge.pending", "recharge.pending"}, s.events()); diff != "" {
			t.Error(diff)
		}
	})
}

// A replayed request that waits does not send the pending event.
func TestReplaySendsNoPendingEvent(t *testing.T) {
	t.Parallel()
	eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
		held := make(chan struct{})
		s.fake.set(func() {
			s.fake.submit = func(order.Order) (order.Answer, error) { <-held; return order.Answer{Outcome: order.Succeeded}, nil }
		})
		q := s.request()
		if _, _, err := s.Do(t.Context(), q, 0); err != nil {
			t.Fatal(err)
		}
		q.WaitFull = true
		if r, replayed, err := s.Do(t.Context(), q, time.Millisecond); err != nil || !replayed || r.PendingEventSent {
			t.Errorf("got %+v, %v, %v", r, replayed, err)
		}
		var all sync.WaitGroup
		all.Go(func() {
			if r, _, err := s.Do(context.Background(), q, longestWait); err != nil || r.State != schema.RechargeSuccess {
				t.Errorf("got %+v, %v", r, err)
			}
		})
		close(held)
		all.Wait()
		s.Queue.Wait()
		if diff := cmp.Diff([]string{"recharge.completed"}, s.events()); diff != "" {
			t.Error(diff)
		}
	})
}

// A store failure during a wait is counted, and the wait continues.
func TestFullWaitSurvivesStoreFailure(t *testing.T) {
	t.Parallel()
	eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
		s.fake.set(func() { s.fake.submit = answers(order.Answer{Outcome: order.Pending, RetryAfter: time.Hour}) })
		id, got := s.startWaiters(1, longestWait)
		r := s.find(id)
		sqlstoretest.Exec(t, s.DB, "ALTER TABLE recharge RENAME TO recharge_gone")
		fixture.Eventually(t, "the outage is counted", func() bool { return s.metric("vayu_recharge_store_failures_total", "doing", "reread") > 0 })
		sqlstoretest.Exec(t, s.DB, "ALTER TABLE recharge_gone RENAME TO recharge")
		s.sendResult(r, order.Answer{Outcome: order.Succeeded})
		if r := <-got; r.State != schema.RechargeSuccess {
			t.Errorf("got %+v", r)
		}
	})
}
