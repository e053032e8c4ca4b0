package recharge

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/testing/fixture"
	"vayu/schema"
)

// patients are so many requests for the same thing that wait at once. It returns when
// all of them wait; got tells how the recharge stood for each when it ended.
func (s *stage) patients(n int, wait time.Duration) (id string, got <-chan Record) {
	s.t.Helper()
	q := s.request()
	q.Patient = true
	all := make(chan Record, n)
	for range n {
		go func() {
			rec, _, err := s.Do(context.Background(), q, wait)
			if err != nil {
				s.t.Error(err)
			}
			all <- rec
		}()
	}
	fixture.Until(s.t, "all wait", func() bool {
		counts := s.waits.Counts()
		for of, waiting := range counts {
			if id = of; waiting == n && len(counts) == 1 {
				return true
			}
		}
		return false
	})
	s.calls.Wait()
	return id, all
}

// The provider may speak by himself: whoever wants to wait does so, also when the next
// look is later than that, and when somebody else has asked for the same before.
func TestAPatientRequestWaitsForACallback(t *testing.T) {
	t.Parallel()
	eachStage(t, func(t *testing.T, s *stage) {
		s.puppet.set(func() { s.puppet.submit = says(Answer{Outcome: Pending, Again: time.Hour}) })
		const n = 3
		id, got := s.patients(n, longestWait)
		fixture.Until(t, "it is told as pending", func() bool { return s.see(id).ToldPending })
		s.told(s.see(id), Answer{Outcome: Succeeded})
		for range n {
			if r := <-got; r.State != schema.RechargeSuccess || r.ID != id {
				t.Errorf("got %+v", r)
			}
		}
		if diff := cmp.Diff([]string{"recharge.pending", "recharge.completed"}, s.events()); diff != "" {
			t.Error(diff)
		}
		if waiting, busy := len(s.waits.Counts()), s.lines[0].Slots().Busy; waiting != 0 || busy != 0 {
			t.Errorf("%d wait for ever, and %d slots are taken", waiting, busy)
		}
	})
}

// What another instance is told reaches those who wait here.
func TestAPatientRequestHearsOfOtherInstances(t *testing.T) {
	t.Parallel()
	eachStage(t, func(t *testing.T, s *stage) {
		s.puppet.set(func() { s.puppet.submit = says(Answer{Outcome: Pending, Again: time.Hour}) })
		id, got := s.patients(2, longestWait)
		r := s.see(id)
		s.open(s.DB)
		s.told(r, Answer{Outcome: Failed, Code: schema.InvalidNumber})
		for range 2 {
			if r := <-got; r.State != schema.RechargeFailed || r.ErrorCode != schema.InvalidNumber {
				t.Errorf("got %+v", r)
			}
		}
	})
}

// Nobody waits for longer than he wants to, or when the server stops.
func TestAWaitIsOverWithoutAnOutcome(t *testing.T) {
	t.Parallel()
	eachStage(t, func(t *testing.T, s *stage) {
		s.puppet.set(func() { s.puppet.submit = says(Answer{Outcome: Pending, Again: time.Hour}) })
		q := s.request()
		q.Patient = true
		for i, replayed := range []bool{false, true} {
			if r, again, err := s.Do(t.Context(), q, time.Millisecond); err != nil || again != replayed || r.State != schema.RechargePending || !r.ToldPending {
				t.Errorf("%d: got %+v, %v, %v", i, r, again, err)
			}
		}
		const n = 2
		_, got := s.patients(n, longestWait)
		s.EndWaits()
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

// A replay that waits changes nothing, so that it does not tell what is pending.
func TestAReplayTellsNothing(t *testing.T) {
	t.Parallel()
	eachStage(t, func(t *testing.T, s *stage) {
		held := make(chan struct{})
		s.puppet.set(func() {
			s.puppet.submit = func(Order) (Answer, error) { <-held; return Answer{Outcome: Succeeded}, nil }
		})
		q := s.request()
		if _, _, err := s.Do(t.Context(), q, 0); err != nil {
			t.Fatal(err)
		}
		q.Patient = true
		if r, replayed, err := s.Do(t.Context(), q, time.Millisecond); err != nil || !replayed || r.ToldPending {
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
		s.calls.Wait()
		if diff := cmp.Diff([]string{"recharge.completed"}, s.events()); diff != "" {
			t.Error(diff)
		}
	})
}

// An outage of the store while somebody waits is counted, and he waits on.
func TestAPatientRequestOutlivesAnOutage(t *testing.T) {
	t.Parallel()
	eachStage(t, func(t *testing.T, s *stage) {
		s.puppet.set(func() { s.puppet.submit = says(Answer{Outcome: Pending, Again: time.Hour}) })
		id, got := s.patients(1, longestWait)
		r := s.see(id)
		run(t, s.DB, "ALTER TABLE recharge RENAME TO recharge_gone")
		fixture.Until(t, "the outage is counted", func() bool { return s.figure("vayu_recharge_store_failures_total", "doing", "reread") > 0 })
		run(t, s.DB, "ALTER TABLE recharge_gone RENAME TO recharge")
		s.told(r, Answer{Outcome: Succeeded})
		if r := <-got; r.State != schema.RechargeSuccess {
			t.Errorf("got %+v", r)
		}
	})
}
