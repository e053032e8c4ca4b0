package evaluation

import (
	"cmp"
	"context"

	"vayu/query/alert"
)

// load reads the alerts that accounts have changed, and those whose state another instance has changed. It returns
// these alerts. The first load reads all alerts, and returns none, because the first evaluation covers all.
func (e *Evaluator) load(ctx context.Context) (changed []*alert.Alert, err error) {
	revision, err := alert.Revision(ctx, e.DB)
	if err != nil {
		return nil, err
	}
	if changed, err = e.reread(ctx); err != nil || revision == e.revision {
		return changed, err
	}
	since := e.revision
	if !e.loaded || revision < since { // after reset or reload, or the store was replaced
		e.reset()
		since = -1
		for _, w := range e.worlds {
			last, err := ReadProgress(ctx, e.DB, w.world)
			if err != nil {
				return nil, err
			}
			w.evaluated, w.publication, w.inherited, w.lagging = last.Hour, last.Publication, last.Publication, last.Lagging
		}
	}
	err = alert.Since(ctx, e.DB, since, func(a *alert.Alert) {
		e.put(a)
		if since >= 0 {
			changed = append(changed, a)
		}
	})
	if err != nil {
		e.reset() // some of the alerts may be in memory
		return nil, err
	}
	e.loaded, e.revision = true, revision
	e.metrics.count(e.alerts)
	return changed, nil
}

// reread reads the alerts again that were changed during an evaluation (e.lost). It returns those that still exist.
func (e *Evaluator) reread(ctx context.Context) (changed []*alert.Alert, err error) {
	for _, id := range e.lost {
		a, err := alert.Read(ctx, e.DB, id)
		if err != nil {
			return nil, err
		}
		e.remove(id)
		if a != nil {
			w := e.worlds[a.World]
			w.inherited = w.publication
			e.put(a)
			changed = append(changed, a)
		}
	}
	e.lost = nil
	return changed, nil
}

// remove removes an alert from memory, if it is there.
func (e *Evaluator) remove(id string) {
	old := e.alerts[id]
	if old == nil {
		return
	}
	w := e.worlds[old.World]
	p := w.places[old.Place.Key()]
	delete(p.alerts, id)
	if len(p.alerts) == 0 {
		delete(w.places, old.Place.Key())
	}
	delete(e.alerts, id)
}

// put replaces an alert in memory. If the alert is deleted, paused or invalid, put removes it instead.
func (e *Evaluator) put(a *alert.Alert) {
	e.remove(a.ID)
	if err := a.Fault(); err != nil {
		e.metrics.failures.Inc()
		e.Log.Error("an alert is left out", "alert", a.ID, "error", err)
		return
	}
	if a.Deleted() || !a.Active {
		return
	}
	e.alerts[a.ID] = a
	w := e.worlds[a.World]
	key := a.Place.Key()
	p := w.places[key]
	if p == nil {
		p = &place{Place: a.Place, alerts: make(map[string]*alert.Alert), evaluated: cmp.Or(w.lagging[key], w.evaluated)}
		if w.published != nil {
			p.observe(w.published, e.Air.Chances(w.world, &p.Place))
			p.evaluated = p.air.At // hours before the alert was created do not count
		}
		w.places[key] = p
	}
	p.alerts[a.ID] = a
}

// group has the alerts of a place that are to be evaluated.
type group struct {
	*place
	alerts []*alert.Alert
}

// all returns all alerts of a world, grouped by place.
func (w *world) all() []group {
	out := make([]group, 0, len(w.places))
	for _, p := range w.places {
		out = append(out, p.all())
	}
	return out
}

// all returns all alerts of a place, as a group.
func (p *place) all() group {
	g := group{place: p, alerts: make([]*alert.Alert, 0, len(p.alerts))}
	for _, a := range p.alerts {
		g.alerts = append(g.alerts, a)
	}
	return g
}

// The method `of` returns the given alerts that belong to this world, grouped by place.
func (w *world) of(alerts []*alert.Alert) []group {
	changed := make(map[*place][]*alert.Alert)
	for _, a := range alerts {
		if a.World != w.world {
			continue
		}
		if p := w.places[a.Place.Key()]; p != nil && p.alerts[a.ID] == a {
			changed[p] = append(changed[p], a)
		}
	}
	out := make([]group, 0, len(changed))
	for p, alerts := range changed {
		out = append(out, group{p, alerts})
	}
	return out
}
