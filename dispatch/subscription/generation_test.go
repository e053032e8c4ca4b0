package subscription

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/schema"
)

// A snapshot that follows changes equals one that was read in full, and no snapshot
// changes later.
func TestDeltaEqualsFullRead(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		dice := rand.New(rand.NewPCG(seed, 0))
		store := map[string]*Subscription{}
		fullRead := func(revision int64) *Snapshot {
			e := newGeneration(nil)
			for _, id := range slices.Sorted(maps.Keys(store)) {
				e.put(store[id])
			}
			return e.finish(revision)
		}
		book := fullRead(0)
		var old []*Snapshot
		var was []map[string][]string
		for revision := int64(1); revision <= 200; {
			e := newGeneration(book)
			for range 1 + dice.IntN(5) {
				id := fmt.Sprint("wh_", dice.IntN(60))
				s := store[id]
				if s == nil {
					s = &Subscription{ID: id, Account: fmt.Sprint("acc_", dice.IntN(4)), World: schema.Worlds[dice.IntN(2)]}
				}
				revision++
				if dice.IntN(6) == 0 {
					delete(store, id)
					e.remove(id)
					continue
				}
				next := *s
				next.Active, next.unreadable = dice.IntN(2) == 0, dice.IntN(9) == 0
				next.Events = slices.DeleteFunc(slices.Clone(schema.EventTypes), func(schema.EventType) bool { return dice.IntN(3) == 0 })
				store[id] = &next
				e.put(&next)
			}
			book = e.finish(revision)
			if diff := cmp.Diff(fullRead(revision).contents(), book.contents()); diff != "" {
				t.Fatalf("seed %d, revision %d: %s", seed, revision, diff)
			}
			old, was = append(old, book), append(was, book.contents())
		}
		for i := range old {
			if diff := cmp.Diff(was[i], old[i].contents()); diff != "" {
				t.Fatalf("seed %d: snapshot %d has changed: %s", seed, i, diff)
			}
		}
	}
}

func TestMatchingDoesNotAllocate(t *testing.T) {
	e := newGeneration(nil)
	sub := &Subscription{ID: "wh_1", Account: "acc_1", Events: schema.EventTypes, secrets: []string{"a", "b"}}
	e.put(sub)
	snapshot := e.finish(1)
	if n := testing.AllocsPerRun(100, func() {
		if n := len(snapshot.Matching("acc_1", schema.Live, schema.EventQuotaWarning)); n != 1 {
			t.Errorf("%d subscriptions match, want 1", n)
		}
		if n := len(sub.Secrets(begun)); n != 1 {
			t.Errorf("it has %d secrets, want 1", n)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestDuplicateTypeMatchesOnce(t *testing.T) {
	t.Parallel()
	e := newGeneration(nil)
	e.put(&Subscription{ID: "wh_1", Account: "acc_1", Events: []schema.EventType{"quota.warning", "quota.warning"}})
	next := newGeneration(e.finish(1))
	if got := len(next.next.Matching("acc_1", schema.Live, "quota.warning")); got != 1 {
		t.Errorf("it is told %d times", got)
	}
	next.remove("wh_1")
	if got := len(next.finish(2).Matching("acc_1", schema.Live, "quota.warning")); got != 0 {
		t.Errorf("it is told %d times after its end", got)
	}
}

func BenchmarkMatching(b *testing.B) {
	e := newGeneration(nil)
	for i := range 10_000 {
		e.put(&Subscription{ID: fmt.Sprintf("wh_%05d", i), Account: "acc_1", Events: schema.EventTypes})
	}
	snapshot := e.finish(1)
	b.ReportAllocs()
	for b.Loop() {
		_ = snapshot.Matching("acc_1", schema.Live, schema.EventQuotaWarning)
	}
}
