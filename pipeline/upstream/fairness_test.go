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
	eachQueueFixture(t, func(t *testing.T, s *queueFixture) {
		record := s.add(-time.Hour, "b")
		for range 6 {
			s.add(-time.Second, "")
		}
		for range 3 { // the first look finds that there is no room for it, and all slots end
			s.Look(t.Context(), s.pool)
			ids := s.finishCalls()
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
	eachQueueFixture(t, func(t *testing.T, s *queueFixture) {
		s.pool.provider.Concurrency, s.pool.maxBatch, s.pool.reservedSlots = 1, 1, 1
		for range 3 {
			s.add(0, "")
			s.add(0, "b")
		}
		var got []string
		for range 6 {
			s.Look(t.Context(), s.pool)
			for _, id := range s.finishCalls() {
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
	eachQueueFixture(t, func(t *testing.T, s *queueFixture) {
		fill := func() {
			for s.pool.Take(false) {
			}
			s.add(0, "b")
			s.Look(t.Context(), s.pool)
			s.pool.Give(false)
		}
		fill()
		if s.pool.Take(false) {
			t.Error("a request took the slot that is left to records")
		}
		s.pool.Give(false)
		if !s.pool.Take(false) {
			t.Error("with two free slots a request found none")
		}
		s.Look(t.Context(), s.pool)
		if got := s.pool.Slots(); got != (Slots{4, 1, [2]bool{false, true}}) { // there may be more
			t.Errorf("got %+v", got)
		}
		s.pool.Give(false)
		if !s.pool.Take(false) {
			t.Error("a slot is left to records though one is under way")
		}
		s.finishCalls()
		s.Look(t.Context(), s.pool) // no record is due

		fill()
		sqlstoretest.Exec(t, s.db, "DELETE FROM errand WHERE batch_id <> ''") // as other instances do
		single := s.add(0, "")
		<-s.pool.wake
		s.Look(t.Context(), s.pool)
		select {
		case <-s.pool.wake:
		default:
			t.Fatal("a slot that no record wants wakes nobody for a single request")
		}
		s.Look(t.Context(), s.pool)
		if got := s.finishCalls(); !slices.Equal(got, []string{single}) {
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
		sqlstoretest.Exec(t, db, jobTable)
		s := newQueueFixture(t, db)
		for range 10 { // four slots
			s.add(-time.Second, "")
		}
		sqlstoretest.Exec(t, db, "CREATE TRIGGER full BEFORE UPDATE ON errand BEGIN SELECT RAISE(ABORT, 'disk is full'); END")
		var looks atomic.Int64
		ctx, cancel := context.WithCancel(t.Context())
		s.pool.provider.Available = func() bool {
			if looks.Add(1) > 1000 { // while it looks without a pause, no time passes
				cancel()
			}
			return true
		}
		ended := make(chan struct{})
		go func() { s.pollLoop(ctx, 0); close(ended) }()
		for range 95 {
			time.Sleep(100 * time.Millisecond)
			s.pool.Nudge()
			s.pool.Due(noon)
		}
		if n := looks.Load(); n != 10 || s.pool.Slots().Busy != 0 {
			t.Errorf("%d looks in 9.5 s, want 10, and %+v", n, s.pool.Slots())
		}
		sqlstoretest.Exec(t, db, "DROP TRIGGER full")
		time.Sleep(AwayPause)
		synctest.Wait()
		if got := s.finishCalls(); len(got) != 4 {
			t.Errorf("a pause later were begun %q, want as many as there are slots", got)
		}
		cancel()
		<-ended
		s.finishCalls()
	})
}

// The end of a lease is compared with that in the store, which is one of the wall clock.
func TestALeaseEndsByTheWallClock(t *testing.T) {
	t.Parallel()
	s := New(Config[string]{Now: time.Now})
	p, err := s.Add(Upstream{Timeout: time.Second, Concurrency: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if until := s.Lease(p).Until.String(); strings.Contains(until, "m=") { // so says String
		t.Errorf("it ends at %s, by the monotonic clock too", until)
	}
}

// An instance that only takes requests leaves what is due to others, and ends when the
// calls of its own have.
func TestWhoAttendsClaimsNothing(t *testing.T) {
	t.Parallel()
	eachQueueFixture(t, func(t *testing.T, s *queueFixture) {
		s.add(-time.Hour, "")
		if !s.pool.Take(false) {
			t.Fatal("there is no slot")
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			s.Attend(ctx)
		}()
		s.pool.Nudge() // as whoever makes something due does
		stop()
		for !s.Stopped() {
			runtime.Gosched()
		}
		select {
		case <-ended:
			t.Error("it ended while a call was under way")
		default:
		}
		s.pool.Give(false)
		<-ended
		if ids := s.finishCalls(); len(ids) != 0 || s.pool.Take(false) {
			t.Errorf("claimed were %q, and a call could begin after the end", ids)
		}
	})
}
