package load

import (
	"slices"
	"time"
)

// Learnt is how readings became known to clients.
type Learnt struct {
	// At is the moment of the readings.
	At time.Time
	// Known is when the last answer came that was older, or the first that was not:
	// from then on every client got these, whichever instance answered.
	Known time.Time
}

// Learnt are the readings that answers brought, in their order, but for the first, which
// may have been known before, and the last, of which nobody knows yet who has it. An
// answer that is older counts until the next readings are answered.
func (a *Air) Learnt() []Learnt {
	a.mu.Lock()
	defer a.mu.Unlock()
	var all []Learnt
	for _, q := range a.asked { // in the order in which they ended
		switch last := len(all) - 1; {
		case !q.ok:
		case last < 0 || q.updated.After(all[last].At):
			all = append(all, Learnt{At: q.updated, Known: q.done})
		case q.updated.Before(all[last].At):
			all[last].Known = q.done
		}
	}
	if len(all) < 3 {
		return nil
	}
	return all[1 : len(all)-1]
}

// sure is how long every answer must have been new for all instances to have it: in a
// second each is asked many times.
const sure = time.Second

// Newer is how long after a moment all clients got readings from after it; false when
// they do not yet. It looks at what was answered after the moment.
func (a *Air) Newer(moment time.Time) (after time.Duration, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	var older, first, last time.Time
	for _, q := range slices.Backward(a.asked) { // in the order in which they ended
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
