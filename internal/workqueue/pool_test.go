package workqueue

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A pool without free slots only counts as backlogged if rows are due.
func TestFullPoolWithoutDueRowsIsNotBacklogged(t *testing.T) {
	t.Parallel()
	eachQueueFixture(t, func(t *testing.T, s *queueFixture) {
		look := func(what string, want Slots) {
			t.Helper()
			s.Poll(t.Context(), s.pool)
			if diff := cmp.Diff(want, s.pool.Slots()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", what, diff)
			}
		}
		for s.pool.TryAcquire(true) { // no call, so no slot is released
		}
		look("batches have their slots, and nothing is due", Slots{InFlight: 2, BatchInFlight: 2})
		for s.pool.TryAcquire(false) {
		}
		look("all slots are taken, and nothing is due", Slots{InFlight: 4, BatchInFlight: 2})
		s.add(0, "b")
		look("a record is due", Slots{4, 2, [2]bool{false, true}})
		s.pool.Release(false)
		select {
		case <-s.pool.wake:
			t.Error("a slot that no batch item may have wakes the loop")
		default:
		}
		s.pool.Release(true)
		select {
		case <-s.pool.wake:
		default:
			t.Error("a slot for a batch item does not wake the loop")
		}
		look("it has found the only slot, and there may be more", Slots{3, 2, [2]bool{false, true}})
		look("there are not", Slots{InFlight: 3, BatchInFlight: 2})
		s.finishCalls()
		s.pool.Release(false)
		s.pool.Release(true)
		s.Wait()
	})
}

// Queued jobs come before new requests: requests leave some slots to them, and batch items
// all.
func TestQueuedJobsComeFirst(t *testing.T) {
	t.Parallel()
	eachQueueFixture(t, func(t *testing.T, s *queueFixture) {
		for s.pool.TryAcquire(false) {
		}
		s.add(0, "")
		s.Poll(t.Context(), s.pool)
		s.pool.Release(false)
		for _, batch := range []bool{false, true} {
			if s.pool.TryAcquire(batch) {
				t.Errorf("a new request acquired the reserved slot (batch: %v)", batch)
			}
		}
		s.pool.Release(false)
		if !s.pool.TryAcquire(false) {
			t.Error("with two free slots a request found none")
		}
		s.Poll(t.Context(), s.pool)
		if got := s.pool.Slots(); got.InFlight != 4 || got.Backlogged != [2]bool{true, false} { // it found as many as there were slots
			t.Errorf("got %+v", got)
		}
		s.finishCalls()
		s.Poll(t.Context(), s.pool)
		if got := s.pool.Slots(); got.InFlight != 3 || got.Backlogged != [2]bool{} {
			t.Errorf("got %+v", got)
		}
		for range 3 {
			s.pool.Release(false)
		}
		s.add(0, "b")
		s.add(0, "b")
		s.add(0, "b")
		s.Poll(t.Context(), s.pool)
		if got := s.pool.Slots(); got.BatchInFlight != 2 || !got.Backlogged[1] {
			t.Errorf("got %+v", got)
		}
		if s.pool.TryAcquire(true) {
			t.Error("a batch item acquired a slot of requests")
		}
		if !s.pool.TryAcquire(false) {
			t.Error("a request acquired no slot beside batch items")
		}
		s.pool.Release(false)
		if got := s.finishCalls(); len(got) != 2 {
			t.Errorf("begun were %q", got)
		}
	})
}

// WakeAt wakes the loop for a row that is due before the next poll.
func TestWakeAtWakesTheLoop(t *testing.T) {
	t.Parallel()
	eachQueueFixture(t, func(t *testing.T, s *queueFixture) {
		woken := func() bool {
			select {
			case <-s.pool.wake:
				return true
			default:
				return false
			}
		}
		s.add(3*time.Second, "")
		if pause := s.Poll(t.Context(), s.pool); pause != 3*time.Second {
			t.Errorf("it looks again after %s", pause)
		}
		s.pool.WakeAt(noon.Add(4 * time.Second))
		if woken() {
			t.Error("it is woken for what comes later")
		}
		s.pool.WakeAt(noon.Add(2 * time.Second))
		if !woken() {
			t.Error("it is not woken for what comes sooner")
		}
		s.unavailable = true
		if pause := s.Poll(t.Context(), s.pool); pause != RetryPause {
			t.Errorf("while the provider is unavailable the pause is %s, want %s", pause, RetryPause)
		}
		if s.pool.IsAvailable() {
			t.Error("IsAvailable() is true while the provider is unavailable")
		}
		s.pool.provider.Available = func() bool { panic("no") }
		if s.pool.IsAvailable() {
			t.Error("a provider whose Available panics counts as available")
		}
	})
}

func TestAddRejectsInvalidProviders(t *testing.T) {
	t.Parallel()
	s := New(Config[string]{})
	for _, u := range []Provider{{Concurrency: 1}, {Timeout: time.Second}} {
		if _, err := s.Add(u, nil); err == nil {
			t.Errorf("%+v was added", u)
		}
	}
}
