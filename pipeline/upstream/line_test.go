package upstream

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// That there is no room for more is no reason to look for more: only what is due is.
func TestWhoHasNoRoomIsNotHungryForNothing(t *testing.T) {
	t.Parallel()
	eachShop(t, func(t *testing.T, s *shop) {
		look := func(what string, want Slots) {
			t.Helper()
			s.Look(t.Context(), s.line)
			if diff := cmp.Diff(want, s.line.Slots()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", what, diff)
			}
		}
		for s.line.Take(true) { // nobody calls: nothing ends
		}
		look("batches have their slots, and nothing is due", Slots{Busy: 2, Batches: 2})
		for s.line.Take(false) {
		}
		look("all slots are taken, and nothing is due", Slots{Busy: 4, Batches: 2})
		s.add(0, "b")
		look("a record is due", Slots{4, 2, [2]bool{false, true}})
		s.line.Give(false)
		select {
		case <-s.line.wake:
			t.Error("a slot that no record may have wakes the loop for one")
		default:
		}
		s.line.Give(true)
		select {
		case <-s.line.wake:
		default:
			t.Error("a slot that a record may have wakes nobody")
		}
		look("it has found the only slot, and there may be more", Slots{3, 2, [2]bool{false, true}})
		look("there are not", Slots{Busy: 3, Batches: 2})
		s.end()
		s.line.Give(false)
		s.line.Give(true)
		s.Wait()
	})
}

// What has waited in the store comes before what comes in: requests leave some slots
// to it, and records all.
func TestWhatHasWaitedComesFirst(t *testing.T) {
	t.Parallel()
	eachShop(t, func(t *testing.T, s *shop) {
		for s.line.Take(false) {
		}
		s.add(0, "")
		s.Look(t.Context(), s.line)
		s.line.Give(false)
		if s.line.Take(false) || s.line.Take(true) {
			t.Error("the only slot was taken by what came later")
		}
		s.line.Give(false)
		if !s.line.Take(false) {
			t.Error("with two free slots a request found none")
		}
		s.Look(t.Context(), s.line)
		if got := s.line.Slots(); got.Busy != 4 || got.Hungry != [2]bool{true, false} { // it found as many as there were slots
			t.Errorf("got %+v", got)
		}
		s.end()
		s.Look(t.Context(), s.line)
		if got := s.line.Slots(); got.Busy != 3 || got.Hungry != [2]bool{} {
			t.Errorf("got %+v", got)
		}
		for range 3 {
			s.line.Give(false)
		}
		s.add(0, "b")
		s.add(0, "b")
		s.add(0, "b")
		s.Look(t.Context(), s.line)
		if got := s.line.Slots(); got.Batches != 2 || !got.Hungry[1] {
			t.Errorf("got %+v", got)
		}
		if s.line.Take(true) || !s.line.Take(false) {
			t.Error("records take what is left to requests")
		}
		s.line.Give(false)
		if got := s.end(); len(got) != 2 {
			t.Errorf("begun were %q", got)
		}
	})
}

// A loop is woken for what is due before it would look.
func TestALoopIsWokenForWhatIsDueEarly(t *testing.T) {
	t.Parallel()
	eachShop(t, func(t *testing.T, s *shop) {
		woken := func() bool {
			select {
			case <-s.line.wake:
				return true
			default:
				return false
			}
		}
		s.add(3*time.Second, "")
		if pause := s.Look(t.Context(), s.line); pause != 3*time.Second {
			t.Errorf("it looks again after %s", pause)
		}
		s.line.Due(noon.Add(4 * time.Second))
		if woken() {
			t.Error("it is woken for what comes later")
		}
		s.line.Due(noon.Add(2 * time.Second))
		if !woken() {
			t.Error("it is not woken for what comes sooner")
		}
		s.away = true
		if pause := s.Look(t.Context(), s.line); pause != AwayPause || s.line.Worth() {
			t.Errorf("while nobody is there it looks again after %s", pause)
		}
		s.line.of.Available = func() bool { panic("no") }
		if s.line.Worth() {
			t.Error("who cannot say whether he is there is")
		}
	})
}

func TestAnUpstreamHasATimeoutAndRoom(t *testing.T) {
	t.Parallel()
	s := New(Config[string]{})
	for _, u := range []Upstream{{Concurrency: 1}, {Timeout: time.Second}} {
		if _, err := s.Add(u, nil); err == nil {
			t.Errorf("%+v was added", u)
		}
	}
}
