package upstream

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
			s.Look(t.Context(), s.pool)
			if diff := cmp.Diff(want, s.pool.Slots()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", what, diff)
			}
		}
		for s.pool.Take(true) { // no call, so no slot is released
		}
		look("batches have their slots, and nothing is due", Slots{Busy: 2, Batches: 2})
		for s.pool.Take(false) {
		}
		look("all slots are taken, and nothing is due", Slots{Busy: 4, Batches: 2})
		s.add(0, "b")
		look("a record is due", Slots{4, 2, [2]bool{false, true}})
		s.pool.Give(false)
		select {
		case <-s.pool.wake:
			t.Error("a slot that no batch item may have wakes the loop")
		default:
		}
		s.pool.Give(true)
		select {
		case <-s.pool.wake:
		default:
			t.Error("a slot for a batch item does not wake the loop")
		}
		look("it has found the only slot, and there may be more", Slots{3, 2, [2]bool{false, true}})
		look("there are not", Slots{Busy: 3, Batches: 2})
		s.finishCalls()
		s.pool.Give(false)
		s.pool.Give(true)
		s.Wait()
	})
}

// Queued jobs come before new requests: requests leave some slots to them, and batch items
// all.
func TestQueuedJobsComeFirst(t *testing.T) {
	t.Parallel()
	eachQueueFixture(t, func(t *testing.T, s *queueFixture) {
		for s.pool.Take(false) {
		}
		s.add(0, "")
		s.Look(t.Context(), s.pool)
		s.pool.Give(false)
		if s.pool.Take(false) || s.pool.Take(true) {
			t.Error("a new request acquired the reserved slot")
		}
		s.pool.Give(false)
		if !s.pool.Take(false) {
			t.Error("with two free slots a request found none")
		}
		s.Look(t.Context(), s.pool)
		if got := s.pool.Slots(); got.Busy != 4 || got.Hungry != [2]bool{true, false} { // it found as many as there were slots
			t.Errorf("got %+v", got)
		}
		s.finishCalls()
		s.Look(t.Context(), s.pool)
		if got := s.pool.Slots(); got.Busy != 3 || got.Hungry != [2]bool{} {
			t.Errorf("got %+v", got)
		}
		for range 3 {
			s.pool.Give(false)
		}
		s.add(0, "b")
		s.add(0, "b")
		s.add(0, "b")
		s.Look(t.Context(), s.pool)
		if got := s.pool.Slots(); got.Batches != 2 || !got.Hungry[1] {
			t.Errorf("got %+v", got)
		}
		if s.pool.Take(true) || !s.pool.Take(false) {
			t.Error("batch items acquire the slots of requests")
		}
		s.pool.Give(false)
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
		if pause := s.Look(t.Context(), s.pool); pause != 3*time.Second {
			t.Errorf("it looks again after %s", pause)
		}
		s.pool.Due(noon.Add(4 * time.Second))
		if woken() {
			t.Error("it is woken for what comes later")
		}
		s.pool.Due(noon.Add(2 * time.Second))
		if !woken() {
			t.Error("it is not woken for what comes sooner")
		}
		s.unavailable = true
		if pause := s.Look(t.Context(), s.pool); pause != AwayPause || s.pool.Worth() {
			t.Errorf("while the provider is unavailable the pause is %s", pause)
		}
		s.pool.provider.Available = func() bool { panic("no") }
		if s.pool.Worth() {
			t.Error("a provider whose Available panics counts as available")
		}
	})
}

func TestAddRejectsInvalidProviders(t *testing.T) {
	t.Parallel()
	s := New(Config[string]{})
	for _, u := range []Upstream{{Concurrency: 1}, {Timeout: time.Second}} {
		if _, err := s.Add(u, nil); err == nil {
			t.Errorf("%+v was added", u)
		}
	}
}
