package workqueue

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

// Queued batch items get a slot while many single requests are due.
func TestBatchItemsGetASlot(t *testing.T) {
	t.Parallel()
	eachQueueFixture(t, func(t *testing.T, s *queueFixture) {
		record := s.add(-time.Hour, "b")
		for range 6 {
			s.add(-time.Second, "")
		}
		for range 3 { // the first look finds that there is no room for it, and all slots end
			s.Poll(t.Context(), s.pool)
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
		t.Error("it was not claimed in three polls")
	})
}

// A provider with one slot alternates between single requests and batch items.
func TestSingleSlotAlternates(t *testing.T) {
	t.Parallel()
	eachQueueFixture(t, func(t *testing.T, s *queueFixture) {
		s.pool.provider.Concurrency, s.pool.maxBatch, s.pool.reservedSlots = 1, 1, 1
		for range 3 {
			s.add(0, "")
			s.add(0, "b")
		}
		var got []string
		for range 6 {
			s.Poll(t.Context(), s.pool)
			for _, id := range s.finishCalls() {
				got = append(got, strings.Trim(id, "0123456789"))
			}
		}
		if diff := cmp.Diff([]string{"", "b", "", "b", "", "b"}, got); diff != "" {
			t.Errorf("begun (-want +got):\n%s", diff)
		}
	})
}

// New requests leave a slot to queued batch items while none is in flight. If the items
// are gone, the slot is available to other queued jobs.
func TestSlotIsReservedForBatchItems(t *testing.T) {
	t.Parallel()
	eachQueueFixture(t, func(t *testing.T, s *queueFixture) {
		fill := func() {
			for s.pool.TryAcquire(false) {
			}
			s.add(0, "b")
			s.Poll(t.Context(), s.pool)
			s.pool.Release(false)
		}
		fill()
		if s.pool.TryAcquire(false) {
			t.Error("a request acquired the slot reserved for batch items")
		}
		s.pool.Release(false)
		if !s.pool.TryAcquire(false) {
			t.Error("with two free slots a request found none")
		}
		s.Poll(t.Context(), s.pool)
		if got := s.pool.Slots(); got != (Slots{4, 1, [2]bool{false, true}}) { // there may be more
			t.Errorf("got %+v", got)
		}
		s.pool.Release(false)
		if !s.pool.TryAcquire(false) {
			t.Error("a slot is reserved for batch items although one is in flight")
		}
		s.finishCalls()
		s.Poll(t.Context(), s.pool) // no record is due

		fill()
		sqlstoretest.Exec(t, s.db, "DELETE FROM job WHERE batch_id <> ''") // as other instances do
		single := s.add(0, "")
		<-s.pool.wake
		s.Poll(t.Context(), s.pool)
		select {
		case <-s.pool.wake:
		default:
			t.Fatal("an unused reserved slot does not wake the loop for a single request")
		}
		s.Poll(t.Context(), s.pool)
		if got := s.finishCalls(); !slices.Equal(got, []string{single}) {
			t.Errorf("begun were %q", got)
		}
	})
}

// If the store fails to write, the next poll waits for the pause, despite wake-ups. Rows
// that became due are claimed after it.
func TestFailedPollWaitsForThePause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := sqlstoretest.SQLite(t)
		sqlstoretest.Exec(t, db, jobTable)
		s := newQueueFixture(t, db)
		for range 10 { // four slots
			s.add(-time.Second, "")
		}
		sqlstoretest.Exec(t, db, "CREATE TRIGGER full BEFORE UPDATE ON job BEGIN SELECT RAISE(ABORT, 'disk is full'); END")
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
			s.pool.Wake()
			s.pool.WakeAt(noon)
		}
		if n := looks.Load(); n != 10 || s.pool.Slots().InFlight != 0 {
			t.Errorf("%d looks in 9.5 s, want 10, and %+v", n, s.pool.Slots())
		}
		sqlstoretest.Exec(t, db, "DROP TRIGGER full")
		time.Sleep(RetryPause)
		synctest.Wait()
		if got := s.finishCalls(); len(got) != 4 {
			t.Errorf("a pause later were begun %q, want as many as there are slots", got)
		}
		cancel()
		<-ended
		s.finishCalls()
	})
}

// The end of a lease is compared with the store, so it uses the wall clock.
func TestLeaseUsesTheWallClock(t *testing.T) {
	t.Parallel()
	s := New(Config[string]{Now: time.Now})
	p, err := s.Add(Provider{Timeout: time.Second, Concurrency: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if until := s.NewLease(p).Until.String(); strings.Contains(until, "m=") { // so says String
		t.Errorf("it ends at %s, by the monotonic clock too", until)
	}
}

// RunWithoutPolling claims no rows, and returns when its own calls have ended.
func TestRunWithoutPollingClaimsNothing(t *testing.T) {
	t.Parallel()
	eachQueueFixture(t, func(t *testing.T, s *queueFixture) {
		s.add(-time.Hour, "")
		if !s.pool.TryAcquire(false) {
			t.Fatal("there is no slot")
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			s.RunWithoutPolling(ctx)
		}()
		s.pool.Wake() // like a row that became due
		stop()
		for !s.Stopped() {
			runtime.Gosched()
		}
		select {
		case <-ended:
			t.Error("it ended while a call was under way")
		default:
		}
		s.pool.Release(false)
		<-ended
		if ids := s.finishCalls(); len(ids) != 0 {
			t.Errorf("claimed were %q after the end", ids)
		}
		if s.pool.TryAcquire(false) {
			t.Error("a call could begin after the end")
		}
	})
}
