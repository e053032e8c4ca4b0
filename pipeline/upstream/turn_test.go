package upstream

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/sqlstore/sqlstoretest"
)

// Records of batches that wait in the store get a slot, however many single requests
// are due there.
func TestRecordsGetATurnWhileSingleRequestsAreDue(t *testing.T) {
	t.Parallel()
	eachShop(t, func(t *testing.T, s *shop) {
		record := s.add(-time.Hour, "b")
		for range 6 {
			s.add(-time.Second, "")
		}
		for range 3 { // the first look finds that there is no room for it, and all slots end
			s.Look(t.Context(), s.line)
			ids := s.end()
			if slices.Contains(ids, record) {
				if len(ids) != 4 {
					t.Errorf("beside it were begun %q, want all slots", ids)
				}
				return
			}
			for range ids {
				s.add(-time.Second, "") // as many come as go
			}
		}
		t.Error("in three turns it had none")
	})
}

// An upstream with one slot gives it to single requests and to records in turn.
func TestTheOnlySlotGoesRound(t *testing.T) {
	t.Parallel()
	eachShop(t, func(t *testing.T, s *shop) {
		s.line.of.Concurrency, s.line.batchMost, s.line.kept = 1, 1, 1
		for range 3 {
			s.add(0, "")
			s.add(0, "b")
		}
		var got []string
		for range 6 {
			s.Look(t.Context(), s.line)
			for _, id := range s.end() {
				got = append(got, strings.Trim(id, "0123456789"))
			}
		}
		if diff := cmp.Diff([]string{"", "b", "", "b", "", "b"}, got); diff != "" {
			t.Errorf("begun (-want +got):\n%s", diff)
		}
	})
}

// Requests that come in leave a slot to records that wait while none of these is under
// way, and no longer; when they have gone elsewhere, it goes to whoever else waits.
func TestASlotIsLeftToRecordsThatWait(t *testing.T) {
	t.Parallel()
	eachShop(t, func(t *testing.T, s *shop) {
		fill := func() {
			for s.line.Take(false) {
			}
			s.add(0, "b")
			s.Look(t.Context(), s.line)
			s.line.Give(false)
		}
		fill()
		if s.line.Take(false) {
			t.Error("a request took the slot that is left to records")
		}
		s.line.Give(false)
		if !s.line.Take(false) {
			t.Error("with two free slots a request found none")
		}
		s.Look(t.Context(), s.line)
		if got := s.line.Slots(); got != (Slots{4, 1, [2]bool{false, true}}) { // there may be more
			t.Errorf("got %+v", got)
		}
		s.line.Give(false)
		if !s.line.Take(false) {
			t.Error("a slot is left to records though one is under way")
		}
		s.end()
		s.Look(t.Context(), s.line) // no record is due

		fill()
		sqlstoretest.Exec(t, s.db, "DELETE FROM errand WHERE batch_id <> ''") // as other instances do
		single := s.add(0, "")
		<-s.line.wake
		s.Look(t.Context(), s.line)
		select {
		case <-s.line.wake:
		default:
			t.Fatal("a slot that no record wants wakes nobody for a single request")
		}
		s.Look(t.Context(), s.line)
		if got := s.end(); !slices.Equal(got, []string{single}) {
			t.Errorf("begun were %q", got)
		}
	})
}

// A store that is read and does not write is not asked again before the pause is over,
// whatever is told meanwhile; after it what was told is served.
func TestAStoreThatDoesNotWriteIsLeftAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := sqlstoretest.SQLite(t)
		sqlstoretest.Exec(t, db, errands)
		s := newShop(t, db)
		for range 10 { // four slots
			s.add(-time.Second, "")
		}
		sqlstoretest.Exec(t, db, "CREATE TRIGGER full BEFORE UPDATE ON errand BEGIN SELECT RAISE(ABORT, 'disk is full'); END")
		var looks atomic.Int64
		ctx, cancel := context.WithCancel(t.Context())
		s.line.of.Available = func() bool {
			if looks.Add(1) > 1000 { // while it looks without a pause, no time passes
				cancel()
			}
			return true
		}
		ended := make(chan struct{})
		go func() { s.serve(ctx, 0); close(ended) }()
		for range 95 {
			time.Sleep(100 * time.Millisecond)
			s.line.Nudge()
			s.line.Due(noon)
		}
		if n := looks.Load(); n != 10 || s.line.Slots().Busy != 0 {
			t.Errorf("%d looks in 9.5 s, want 10, and %+v", n, s.line.Slots())
		}
		sqlstoretest.Exec(t, db, "DROP TRIGGER full")
		time.Sleep(AwayPause)
		synctest.Wait()
		if got := s.end(); len(got) != 4 {
			t.Errorf("a pause later were begun %q, want as many as there are slots", got)
		}
		cancel()
		<-ended
		s.end()
	})
}

// The end of a lease is compared with that in the store, which is one of the wall clock.
func TestALeaseEndsByTheWallClock(t *testing.T) {
	t.Parallel()
	s := New(Config[string]{Now: time.Now})
	l, err := s.Add(Upstream{Timeout: time.Second, Concurrency: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if until := s.Lease(l).Until.String(); strings.Contains(until, "m=") { // so says String
		t.Errorf("it ends at %s, by the monotonic clock too", until)
	}
}

// An instance that only takes requests leaves what is due to others, and ends when the
// calls of its own have.
func TestWhoAttendsClaimsNothing(t *testing.T) {
	t.Parallel()
	eachShop(t, func(t *testing.T, s *shop) {
		s.add(-time.Hour, "")
		if !s.line.Take(false) {
			t.Fatal("there is no slot")
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			s.Attend(ctx)
		}()
		s.line.Nudge() // as whoever makes something due does
		stop()
		for !s.Stopped() {
			runtime.Gosched()
		}
		select {
		case <-ended:
			t.Error("it ended while a call was under way")
		default:
		}
		s.line.Give(false)
		<-ended
		if ids := s.end(); len(ids) != 0 || s.line.Take(false) {
			t.Errorf("claimed were %q, and a call could begin after the end", ids)
		}
	})
}
