package evaluation

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"vayu/internal/sqlstore"
	"vayu/query/aggregate"
	"vayu/query/alert"
	"vayu/schema"
)

// catchUp evaluates the hours that at most [catchUpPlaces] places have missed, and then the present hour of these
// places. A missed hour became current while no instance was the leader. If no place has missed hours any more, catchUp
// stores that the newest hour is evaluated. An error of one place does not stop the other places.
func (e *Evaluator) catchUp(ctx context.Context, w *world, now time.Time) error {
	if !w.pending {
		return nil
	}
	read, left := 0, 0
	var failed error
	for _, p := range w.places {
		if !p.behind {
			continue
		}
		if read < catchUpPlaces && !now.Before(p.retryAt) {
			read++
			if p.failed = e.readMissed(ctx, w, p, now); p.failed != nil {
				p.retryAt = now.Add(catchUpRetry)
			}
		}
		if p.behind {
			left++
		}
		if p.failed != nil {
			failed = p.failed
		}
	}
	if failed != nil {
		return fmt.Errorf("%d places have missed hours: %w", left, failed)
	}
	if left > 0 {
		return nil
	}
	return e.complete(ctx, w, w.published.Newest())
}

// complete stores that the hour `newest` is evaluated. It also stores the last evaluated hour of up to maxLagging
// places that lag behind, by less than maxCatchUp.
func (e *Evaluator) complete(ctx context.Context, w *world, newest uint32) error {
	lagging := make(map[string]uint32)
	for key, p := range w.places {
		if p.evaluated > 0 && p.evaluated < newest && p.evaluated+uint32(maxCatchUp/time.Second) > newest && len(lagging) < maxLagging {
			lagging[key] = p.evaluated
		}
	}
	if newest <= w.evaluated && maps.Equal(lagging, w.lagging) {
		w.pending = false
		return nil
	}
	err := e.DB.Update(ctx, func(tx *sqlstore.Tx) error {
		if err := advance(tx, w.world, w.publication); err != nil {
			return err
		}
		return storeHour(tx, w.world, newest, lagging)
	})
	if err == nil {
		w.evaluated, w.lagging, w.pending = newest, lagging, false
	}
	return err
}

// readMissed evaluates the missed hours of a place, and then the present hour. For each alert it skips hours before the
// alert's creation or last change. Conditions on the age of data or on forecasts are evaluated for the present only.
func (e *Evaluator) readMissed(ctx context.Context, w *world, p *place, now time.Time) error {
	from := max(p.evaluated, p.air.At-uint32(maxCatchUp/time.Second))
	hours, err := e.hours(ctx, w.world, &p.Place, from, p.air.At)
	if err != nil {
		return err
	}
	for i := range hours {
		h := &hours[i]
		if h.At <= from || h.At >= p.air.At {
			continue
		}
		var due []*alert.Alert
		for _, a := range p.alerts {
			if a.OfHour() && a.State.Hour < h.At && a.CreatedAt().Before(aggregate.Instant(h.At)) {
				due = append(due, a)
			}
		}
		if err := e.commit(ctx, w, w.changes(nil, due, h, now), now); err != nil {
			return err
		}
	}
	p.behind = false
	return e.evaluate(ctx, w, []group{p.all()}, now)
}

// recheck is a place for which the crossings (hours that triggered alerts) are compared with the present figures.
type recheck struct {
	world    *world
	place    alert.Place
	from, to uint32 // hours, both included
}

// Recheck checks whether the present figures of past hours still trigger the alerts that these hours triggered, for at
// most [recheckPlaces] places. Meanwhile, Refresh can evaluate other alerts. An error of one place does not affect the
// other places, and the next comparison includes that place again.
func (e *Evaluator) Recheck(ctx context.Context) error {
	var failed error
	for _, r := range e.dueRechecks() {
		hours, err := e.hours(ctx, r.world.world, &r.place, r.from, r.to)
		if err == nil {
			err = e.correct(ctx, &r, hours)
		}
		if err != nil {
			failed = err
		}
	}
	return failed
}

// dueRechecks returns the next places to compare. If none are left, and a comparison is due, it begins with all places.
func (e *Evaluator) dueRechecks() (due []recheck) {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.Now()
	for _, w := range e.worlds {
		if w == nil || w.published == nil {
			continue
		}
		if len(w.unchecked) == 0 && w.recheck && !now.Before(w.recheckAt) {
			w.recheck, w.recheckAt = false, now.Add(recheckInterval)
			for key := range w.places {
				w.unchecked = append(w.unchecked, key)
			}
		}
		for len(w.unchecked) > 0 && len(due) < recheckPlaces {
			last := len(w.unchecked) - 1
			if p := w.places[w.unchecked[last]]; p != nil {
				if from := p.firstCrossing(now); from < p.air.At {
					due = append(due, recheck{w, p.Place, from, p.air.At})
				}
			}
			w.unchecked = w.unchecked[:last]
		}
	}
	return due
}

// firstCrossing returns the hour of the earliest crossing to compare, or the present hour if there is none. Crossings
// of a position are not compared, because its current figures may mix hours of stations and differ from past hours.
func (p *place) firstCrossing(now time.Time) uint32 {
	first := p.air.At
	if !p.known || p.behind || !p.Stored() {
		return first
	}
	oldest := now.Add(-maxRecheck)
	for _, a := range p.alerts {
		if a.Correctable() && aggregate.Instant(a.State.Hour).After(oldest) {
			first = min(first, a.State.Hour)
		}
	}
	return first
}

// correct compares the crossings of a place's alerts with `hours`, the present figures, and stores what changes.
func (e *Evaluator) correct(ctx context.Context, r *recheck, hours []alert.Observation) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	w, now := r.world, e.Now()
	p := w.places[r.place.Key()]
	if e.worlds[w.world] != w || p == nil || !p.known || p.behind {
		return nil // all alerts are read again, or those of the place were deleted
	}
	var found []outcome
	for _, a := range p.alerts {
		if a.State.Hour < r.from || a.State.Hour >= r.to {
			continue
		}
		first := slices.IndexFunc(hours, func(o alert.Observation) bool { return o.At >= a.State.Hour })
		if first < 0 {
			continue
		}
		if step, ok := a.Recheck(hours[first:], now); ok {
			found = append(found, newOutcome(a, step, &p.air, now))
		}
	}
	return e.superseded(e.commit(ctx, w, found, now))
}

// hours returns the hours of a place between the hours `from` and `to`, both included.
func (e *Evaluator) hours(ctx context.Context, w schema.World, p *alert.Place, from, to uint32) ([]alert.Observation, error) {
	all, err := e.Air.Hours(ctx, w, p, schema.DayOf(aggregate.Instant(from)), schema.DayOf(aggregate.Instant(to)))
	if err != nil {
		return nil, fmt.Errorf("reading hours of %q: %w", p.Key(), err)
	}
	var out []alert.Observation
	for i := range all {
		if all[i].At >= from && all[i].At <= to {
			out = append(out, alert.Observation{Figures: all[i]})
		}
	}
	return out, nil
}
