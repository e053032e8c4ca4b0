package tablecache

import (
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Each version has its own content, whatever happens to later ones.
func TestVersionsAreImmutable(t *testing.T) {
	t.Parallel()
	dice := rand.New(rand.NewPCG(1, 2))
	var version *Map[int, int]
	want := map[int]int{}
	var versions []*Map[int, int]
	var wants []map[int]int
	for range 100 {
		d := version.Edit()
		for range dice.IntN(20) {
			key, value := dice.IntN(500), dice.Int()
			if dice.IntN(3) == 0 {
				d.Delete(key)
				delete(want, key)
			} else {
				d.Put(key, value)
				want[key] = value
			}
			if got := d.Get(key); got != want[key] {
				t.Fatalf("the draft has %d, want %d", got, want[key])
			}
		}
		version = d.Map()
		versions, wants = append(versions, version), append(wants, maps.Clone(want))
	}
	for i, m := range versions {
		if diff := cmp.Diff(wants[i], maps.Collect(m.All())); diff != "" || m.Len() != len(wants[i]) {
			t.Errorf("version %d has %d keys (-want +got):\n%s", i, m.Len(), diff)
		}
	}
}

func TestNilMapIsEmpty(t *testing.T) {
	t.Parallel()
	var m *Map[string, int]
	if got := m.Len(); got != 0 {
		t.Errorf("Len() = %d, want 0", got)
	}
	if got := m.Get("a"); got != 0 {
		t.Errorf("Get(\"a\") = %d, want 0", got)
	}
	if got := maps.Collect(m.All()); len(got) != 0 {
		t.Errorf("All() has %v, want nothing", got)
	}
}

func BenchmarkGet(b *testing.B) {
	var empty *Map[[32]byte, int]
	d := empty.Edit()
	for i := range 10_000 {
		d.Put([32]byte{byte(i), byte(i >> 8)}, i)
	}
	m := d.Map()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		m.Get([32]byte{byte(i), 3})
	}
}
