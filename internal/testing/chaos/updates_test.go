package chaos

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Update is one update of the readings that clients observed.
type Update struct {
	// At is the moment of the readings.
	At time.Time
	// SeenByAll is when the last older answer arrived, or the first with these readings or newer.
	// From then on every client got these readings from every instance.
	SeenByAll time.Time
}

// Updates returns the observed updates except the first, which may predate the test, and the last, which may
// still propagate. Each older answer postpones SeenByAll, until the next update appears.
func (a *Air) Updates() []Update {
	a.mu.Lock()
	defer a.mu.Unlock()
	var all []Update
	for _, q := range a.requests { // in the order in which they ended
		switch last := len(all) - 1; {
		case !q.ok:
		case last < 0 || q.updated.After(all[last].At):
			all = append(all, Update{At: q.updated, SeenByAll: q.done})
		case q.updated.Before(all[last].At):
			all[last].SeenByAll = q.done
		}
	}
	if len(all) < 3 {
		return nil
	}
	return all[1 : len(all)-1]
}

// sure is how long all answers must have been new before all instances count as updated. Each
// instance gets many requests in a second.
const sure = time.Second

// Newer returns how long after a moment all clients got newer readings; false if they do not yet.
// It considers answers after the moment.
func (a *Air) Newer(moment time.Time) (after time.Duration, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	var older, first, last time.Time
	for _, q := range slices.Backward(a.requests) { // in the order in which they ended
		if !q.done.After(moment) {
			break
		}
		switch {
		case !q.ok:
		case !q.updated.After(moment):
			if q.done.After(older) {
				older = q.done
			}
		default:
			if first = q.done; last.IsZero() {
				last = q.done
			}
		}
	}
	known := first
	if older.After(known) {
		known = older
	}
	if first.IsZero() || last.Sub(known) < sure {
		return 0, false
	}
	return known.Sub(moment), true
}

// second is a moment of a fictitious run.
func second(s float64) time.Time { return time.Unix(1_800_000_000, 0).Add(time.Duration(s * 1e9)) }

// answers are the replies to clients: time, and time of the readings.
func answers(pairs ...[2]float64) *Air {
	a := &Air{}
	for _, p := range pairs {
		a.requests = append(a.requests, request{at: second(p[0] - 0.1), done: second(p[0]), ok: true, updated: second(p[1])})
	}
	return a
}

func TestUpdatesCountLastOlderAnswer(t *testing.T) {
	t.Parallel()
	a := answers(
		[2]float64{1, 0},
		[2]float64{11, 10}, [2]float64{11.5, 0}, [2]float64{12, 0}, [2]float64{12.5, 10}, // the other instance takes longer
		[2]float64{21, 20}, [2]float64{22, 20},
		[2]float64{31, 30}, [2]float64{32, 20}, // a restarted one answers from its stored snapshot
	)
	a.requests = append(a.requests, request{done: second(40), updated: second(40)}) // failed
	want := []Update{{second(10), second(12)}, {second(20), second(21)}}
	if diff := cmp.Diff(want, a.Updates()); diff != "" {
		t.Error(diff)
	}
	if got := answers([2]float64{1, 0}, [2]float64{2, 1}).Updates(); got != nil {
		t.Errorf("got %v from too few updates", got)
	}
}

func TestNewerNeedsAllInstances(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		air  *Air
		want float64 // seconds; negative for not yet
	}{
		"nothing was answered":        {answers(), -1},
		"all answers are older":       {answers([2]float64{12, 9}, [2]float64{14, 10}), -1},
		"one instance is behind":      {answers([2]float64{12, 11}, [2]float64{13, 9}, [2]float64{13.9, 11}), -1},
		"both have it":                {answers([2]float64{12, 11}, [2]float64{13, 9}, [2]float64{14, 11}), 3},
		"it came before the first":    {answers([2]float64{9, 8}, [2]float64{12, 11}, [2]float64{14, 11}), 2},
		"only what is newer counts":   {answers([2]float64{11, 10}, [2]float64{13, 12}, [2]float64{14, 12}), 3},
		"one that was behind is back": {answers([2]float64{11, 9}, [2]float64{12, 11}, [2]float64{15, 9}, [2]float64{16, 12}), 5},
	} {
		t.Run(name, func(t *testing.T) {
			after, ok := c.air.Newer(second(10))
			if want := time.Duration(c.want * 1e9); ok != (c.want >= 0) || ok && after != want {
				t.Errorf("%v %t, want %v", after, ok, want)
			}
		})
	}
}

func TestRefusalsAreCountedFromTheFirst(t *testing.T) {
	t.Parallel()
	a := answers([2]float64{1, 0}, [2]float64{2, 0})
	for _, s := range []float64{4, 3, 5} { // they end in another order
		a.requests = append(a.requests, request{at: second(s), done: second(6), answered: true, refused: true, fault: "429"})
	}
	got := a.Between(second(0), second(10))
	want := AirStats{Requests: 5, Failed: 3, Answered: 3, Refused: 3, FirstRefused: second(3), Gap: time.Second, P50: 100 * time.Millisecond, P99: 100 * time.Millisecond, Faults: map[string]int{"429": 3}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
