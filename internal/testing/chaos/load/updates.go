package load

import (
	"slices"
	"time"
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
