package upstream

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"vayu/internal/sqlstore/sqlstoretest"
)

// patience is how long waiters wait.
const patience = time.Minute

// waiters has so many wait for a slot, whose results come out of the channel.
func waiters(ctx context.Context, l *Line, n int) <-chan bool {
	got := make(chan bool, n)
	for range n {
		go func() { got <- l.TakeWithin(ctx, patience) }()
	}
	synctest.Wait()
	return got
}

// full is a line of four slots, of which records may have two and have them.
func full(t *testing.T) *Line {
	t.Helper()
	l, err := New(Config[string]{}).Add(Upstream{Timeout: time.Second, Concurrency: 4}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if !l.TakeWithin(t.Context(), 0) {
			t.Fatal("a slot that is free was not taken")
		}
	}
	return l
}

// Each slot that is given back goes to one who waits, until nobody does.
func TestWhoWaitsGetsASlotThatIsGivenBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := full(t)
		got := waiters(t.Context(), l, 5)
		if !l.Take(false) {
			t.Fatal("a request found no slot")
		}
		l.Give(false) // which is none for a record
		synctest.Wait()
		if len(got) != 0 {
			t.Errorf("%d have one, and none was given back", len(got))
		}
		l.Give(true)
		synctest.Wait()
		if len(got) != 1 {
			t.Errorf("%d have the one that was given back", len(got))
		}
		l.Give(true) // two at once
		l.Give(true)
		synctest.Wait()
		if len(got) != 3 || l.Slots().Batches != 2 {
			t.Errorf("%d have the three that were given back, and %+v", len(got), l.Slots())
		}
		l.Give(true)
		l.Give(true)
		for range cap(got) {
			if !<-got {
				t.Error("one went without")
			}
		}
	})
}

// Who has waited so long goes without, but for a slot that is free in that moment.
func TestWhoWaitsGoesWithoutInTheEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := full(t)
		began := time.Now()
		got := waiters(t.Context(), l, 3)
		for range cap(got) {
			if <-got {
				t.Error("one has a slot that nobody gave back")
			}
		}
		if d := time.Since(began); d != patience {
			t.Errorf("they waited for %s, want %s", d, patience)
		}
		ctx, cancel := context.WithCancel(t.Context())
		got = waiters(ctx, l, 3)
		cancel()
		for range cap(got) {
			if <-got {
				t.Error("one has a slot that nobody gave back")
			}
		}
		if d := time.Since(began); d != patience {
			t.Errorf("they waited until %s, though nobody wants their slots any more", d)
		}
		l.Give(true)
		if got := waiters(t.Context(), l, 1); !<-got {
			t.Error("a slot given back while nobody waited was not taken")
		}
	})
}

// Who waits leaves a slot to what waits in the store, and is told when nothing does any
// more.
func TestWhoWaitsComesAfterTheStore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := sqlstoretest.SQLite(t)
		sqlstoretest.Exec(t, db, errands)
		s := newShop(t, db)
		wait := func() <-chan bool { // two who wait, a record that is due, and two slots
			for s.line.Take(true) {
			}
			s.add(0, "b")
			s.Look(t.Context(), s.line)
			got := waiters(t.Context(), s.line, 2)
			s.line.Give(true)
			s.line.Give(true)
			synctest.Wait()
			if len(got) != 0 {
				t.Errorf("%d have a slot before what has waited in the store", len(got))
			}
			return got
		}
		got := wait()
		s.Look(t.Context(), s.line)
		synctest.Wait()
		if len(got) != 1 || len(s.begun) != 1 {
			t.Errorf("%d have a slot, and %d that have waited in the store, want one each", len(got), len(s.begun))
		}
		s.end()
		synctest.Wait()
		if len(got) != 2 {
			t.Error("the other has none")
		}

		got = wait()
		sqlstoretest.Exec(t, db, "DELETE FROM errand WHERE due_at <= $1", s.clock.Now().UnixMicro()) // as other instances do
		s.Look(t.Context(), s.line)
		synctest.Wait()
		if len(got) != 2 {
			t.Errorf("%d have a slot, want both", len(got))
		}
	})
}
