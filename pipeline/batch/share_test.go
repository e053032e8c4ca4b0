package batch_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"vayu/internal/sqlstore"
	"vayu/pipeline/batch"
)

// gate holds records before they are begun, and lets them go one at a time.
type gate struct {
	arrived chan batch.Item
	mu      sync.Mutex
	held    []*held
}

type held struct {
	account string
	free    chan struct{}
}

func newGate(s *site) *gate {
	s.Graceless() // what is held at the end is not waited for
	g := &gate{arrived: make(chan batch.Item, 100)}
	s.before = func(ctx context.Context, item batch.Item) error {
		h := &held{item.Owner.Account, make(chan struct{})}
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

// release lets the oldest record of an account go, or of anybody.
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

// under is how many records of an account are under way.
func (g *gate) under(account string) (n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, h := range g.held {
		if h.account == account {
			n++
		}
	}
	return n
}

// An account alone has all of the room; one that comes gets every place that becomes
// free until both have the same, however much the first has sent before; and when
// it is done, the first has all again.
func TestAccountsShareTheRoom(t *testing.T) {
	t.Parallel()
	eachSite(t, 8, func(t *testing.T, s *site) {
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
		for ; g.under(s.b.ID) == 0; <-g.arrived {
			g.release(s.a.ID)
		}
		for range 3 {
			g.release(s.a.ID)
			if item := <-g.arrived; item.Owner.Account != s.b.ID {
				t.Fatalf("with %d and %d under way the next is one of the first", g.under(s.a.ID), g.under(s.b.ID))
			}
		}
		if a, b := g.under(s.a.ID), g.under(s.b.ID); a != 4 || b != 4 {
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
		if a, b := g.under(s.a.ID), g.under(s.b.ID); a != 8 || b != 0 {
			t.Fatalf("%d and %d are under way, want 8 and none", a, b)
		}
	})
}

// The oldest batch of an account comes first, and its records in their order.
func TestTheOldestComesFirst(t *testing.T) {
	t.Parallel()
	eachSite(t, 1, func(t *testing.T, s *site) {
		g := newGate(s)
		first, second := s.post(s.a, records(150, "{}")), s.post(s.a, records(2, "{}"))
		s.run()
		for i := range 152 {
			want := batch.Item{Batch: first, Index: i}
			if i >= 150 {
				want = batch.Item{Batch: second, Index: i - 150}
			}
			if got := <-g.arrived; got.Batch != want.Batch || got.Index != want.Index {
				t.Fatalf("number %d is %d of %s, want %d of %s", i, got.Index, got.Batch, want.Index, want.Batch)
			}
			g.release("")
		}
	})
}

// However large records are, few of them are in memory, and always one.
func TestLargeRecordsAreReadAFewAtATime(t *testing.T) {
	t.Parallel()
	eachSite(t, 8, func(t *testing.T, s *site) {
		large := strings.TrimSuffix(strings.Repeat(`"`+strings.Repeat("a", 99_998)+`",`, 7), ",")
		id := s.post(s.a, "["+large+"]") // each is a chunk
		for i, c := range []struct {
			room, want int
			whole      bool
		}{{250_000, 2, false}, {0, 1, false}, {1_000_000, 3, true}, {1_000_000, 1, true}, {1_000_000, 0, true}} {
			update(t, s.DB, func(tx *sqlstore.Tx) error {
				n, whole, err := batch.Claim(tx, s.clock.Now(), s.a.ID, 3, c.room)
				if n != c.want || whole != c.whole {
					t.Errorf("lease %d is of %d chunks, all: %v, want %d, %v", i, n, whole, c.want, c.whole)
				}
				return err
			})
		}
		if got := s.ask(path + "/" + id).Said("state"); got != "processing" {
			t.Errorf("the batch is %s", got)
		}
	})
}
