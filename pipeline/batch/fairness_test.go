package batch_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/pipeline/batch"
	"vayu/pipeline/batch/item"
)

// gate blocks records before they begin, and releases them one at a time.
type gate struct {
	arrived chan item.Item
	mu      sync.Mutex
	held    []*heldRecord
}

type heldRecord struct {
	account string
	free    chan struct{}
}

func newGate(s *batchFixture) *gate {
	s.NoGrace() // what is held at the end is not waited for
	g := &gate{arrived: make(chan item.Item, 100)}
	s.before = func(ctx context.Context, item item.Item) error {
		h := &heldRecord{item.Owner.Account, make(chan struct{})}
		g.mu.Lock()
		g.held = append(g.held, h)
		g.mu.Unlock()
		g.arrived <- item
		select {
		case <-h.free:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return g
}

// release releases the oldest record of an account, or of any.
func (g *gate) release(account string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, h := range g.held {
		if account == "" || h.account == account {
			close(h.free)
			g.held = append(g.held[:i], g.held[i+1:]...)
			return
		}
	}
}

// inFlight returns the number of records of an account in flight.
func (g *gate) inFlight(account string) (n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, h := range g.held {
		if h.account == account {
			n++
		}
	}
	return n
}

// A single account has all slots. A second account gets every free slot until both have
// the same number, and the first gets all again at the end.
func TestAccountsShareSlots(t *testing.T) {
	t.Parallel()
	eachBatchFixture(t, 8, func(t *testing.T, s *batchFixture) {
		g := newGate(s)
		for range 3 {
			s.post(s.a, records(300, "{}"))
		}
		s.run()
		for range 8 {
			if item := <-g.arrived; item.Owner.Account != s.a.ID {
				t.Fatalf("%s came first", item.Owner.Account)
			}
		}
		s.post(s.b, records(6, "{}"))
		// The batch is known when its first record comes; who goes before is the first's.
		for ; g.inFlight(s.b.ID) == 0; <-g.arrived {
			g.release(s.a.ID)
		}
		for range 3 {
			g.release(s.a.ID)
			if item := <-g.arrived; item.Owner.Account != s.b.ID {
				t.Fatalf("with %d and %d under way the next is one of the first", g.inFlight(s.a.ID), g.inFlight(s.b.ID))
			}
		}
		if a, b := g.inFlight(s.a.ID), g.inFlight(s.b.ID); a != 4 || b != 4 {
			t.Fatalf("%d and %d are under way, want 4 each", a, b)
		}
		for range 2 { // the second's own places are its own
			g.release(s.b.ID)
			if item := <-g.arrived; item.Owner.Account != s.b.ID {
				t.Fatal("the first has taken a place of the second")
			}
		}
		for range 4 { // it has no more
			g.release(s.b.ID)
			if item := <-g.arrived; item.Owner.Account != s.a.ID {
				t.Fatal("the second has more than it has sent")
			}
		}
		if a, b := g.inFlight(s.a.ID), g.inFlight(s.b.ID); a != 8 || b != 0 {
			t.Fatalf("%d and %d are under way, want 8 and none", a, b)
		}
	})
}

// The oldest batch of an account comes first, with its records in their order.
func TestOldestBatchComesFirst(t *testing.T) {
	t.Parallel()
	eachBatchFixture(t, 1, func(t *testing.T, s *batchFixture) {
		g := newGate(s)
		first, second := s.post(s.a, records(150, "{}")), s.post(s.a, records(2, "{}"))
		s.run()
		for i := range 152 {
			want := item.Item{Batch: first, Index: i}
			if i >= 150 {
				want = item.Item{Batch: second, Index: i - 150}
			}
			if got := <-g.arrived; got.Batch != want.Batch || got.Index != want.Index {
				t.Fatalf("number %d is %d of %s, want %d of %s", i, got.Index, got.Batch, want.Index, want.Batch)
			}
			g.release("")
		}
	})
}

// Large records are leased a few at a time, and always at least one.
func TestLargeRecordsAreLeasedAFewAtATime(t *testing.T) {
	t.Parallel()
	eachBatchFixture(t, 8, func(t *testing.T, s *batchFixture) {
		large := strings.TrimSuffix(strings.Repeat(`"`+strings.Repeat("a", 99_998)+`",`, 7), ",")
		id := s.post(s.a, "["+large+"]") // each is a chunk
		for i, c := range []struct {
			room, want int
			whole      bool
		}{{250_000, 2, false}, {0, 1, false}, {1_000_000, 3, true}, {1_000_000, 1, true}, {1_000_000, 0, true}} {
			sqlstoretest.Update(t, s.DB, func(tx *sqlstore.Tx) error {
				n, whole, err := batch.Claim(tx, s.clock.Now(), s.a.ID, 3, c.room)
				if n != c.want || whole != c.whole {
					t.Errorf("lease %d is of %d chunks, all: %v, want %d, %v", i, n, whole, c.want, c.whole)
				}
				return err
			})
		}
		if got := s.get(path + "/" + id).TextAt("state"); got != "processing" {
			t.Errorf("the batch is %s", got)
		}
	})
}
