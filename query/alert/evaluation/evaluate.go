package evaluation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"vayu/internal/sqlstore"
	"vayu/query/alert"
	"vayu/query/rollup"
	"vayu/schema"
	"vayu/schema/air"
)

// commitGroup is the largest number of changes in a transaction. On SQLite other writes wait for the transaction, which
// takes about ten milliseconds.
const commitGroup = 100

// outcome is the change of an alert that an evaluation has found.
type outcome struct {
	alert *alert.Alert
	step  alert.Step
	data  air.AlertData // only of a step with an event
}

// evaluate evaluates alerts with the present figures of their places, and stores the changes.
func (e *Evaluator) evaluate(ctx context.Context, w *world, groups []group, now time.Time) error {
	var found []outcome
	for _, g := range groups {
		if !g.known {
			continue
		}
		found = evaluated(found, g.alerts, &g.air, now)
	}
	slices.SortFunc(found, func(a, b outcome) int { return cmp.Compare(a.alert.ID, b.alert.ID) })
	if err := e.commit(ctx, w, found, now); err != nil {
		return err
	}
	for _, g := range groups {
		if g.known {
			g.evaluated = max(g.evaluated, g.air.At)
		}
	}
	return nil
}

// evaluated appends the changes of alerts of one place.
func evaluated(found []outcome, alerts []*alert.Alert, o *alert.Observation, now time.Time) []outcome {
	for _, a := range alerts {
		if step, ok := a.Step(o, now); ok {
			found = append(found, newOutcome(a, step, o, now))
		}
	}
	return found
}

func newOutcome(a *alert.Alert, step alert.Step, o *alert.Observation, now time.Time) outcome {
	out := outcome{alert: a, step: step}
	if step.Event != "" {
		out.data = a.Data(&step, &o.Figures, now)
	}
	return out
}

// errOlderAir means that another instance has evaluated newer air.
var errOlderAir = errors.New("another instance has evaluated newer air")

// advance stores that a publication is evaluated, before its changes are. From then on, no instance stores changes that
// were computed from older air.
func (e *Evaluator) advance(ctx context.Context, w *world, p rollup.Publication) error {
	err := e.DB.Update(ctx, func(tx *sqlstore.Tx) error { return advance(tx, w.world, p) })
	if err == nil {
		w.publication = p
	}
	return err
}

func advance(tx *sqlstore.Tx, w schema.World, p rollup.Publication) error {
	newest, err := alert.Advance(tx, w, p)
	if err == nil && !newest {
		err = errOlderAir
	}
	return err
}

// commit stores changes, each group in a transaction with its events. It stores none, and returns errOlderAir, if
// another instance has evaluated newer air. After a failed group, the earlier groups are
// stored, and a repeated evaluation does not find their changes again.
func (e *Evaluator) commit(ctx context.Context, w *world, found []outcome, now time.Time) error {
	for part := range slices.Chunk(found, commitGroup) {
		var saved []bool
		err := e.DB.Update(ctx, func(tx *sqlstore.Tx) error {
			saved = make([]bool, len(part)) // the function may run again
			if err := advance(tx, w.world, w.publication); err != nil {
				return err
			}
			for i := range part {
				o := &part[i]
				var err error
				if saved[i], err = alert.SaveState(tx, o.alert.ID, o.step.State); err != nil {
					return err
				}
				if !saved[i] || o.step.Event == "" {
					continue
				}
				if err := alert.Record(tx, e.Events, o.alert, o.step.Event, o.step.State.Version, &o.data, now); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("storing changes of alerts: %w", err)
		}
		for i := range part {
			e.apply(&part[i], saved[i])
		}
	}
	return nil
}

// apply updates an alert in memory after a transaction.
func (e *Evaluator) apply(o *outcome, saved bool) {
	if !saved { // another instance or the account has changed it: read all alerts again
		e.reload()
		return
	}
	o.alert.State = o.step.State
	if o.step.Event != "" {
		e.metrics.changes.WithLabelValues(string(o.step.Event), string(o.step.Reason)).Inc()
	}
}

// catchUp evaluates the hours between the newest evaluated hour and the present one, which became current while no
// instance was the leader. An alert skips hours before its creation and before its last change.
func (e *Evaluator) catchUp(ctx context.Context, w *world, now time.Time) error {
	for _, p := range w.places {
		last := max(p.evaluated, w.evaluated)
		if !p.known || last == 0 || p.air.At <= last+hour {
			continue
		}
		from := max(last, p.air.At-uint32(maxCatchUp/time.Second))
		hours, err := e.hours(ctx, w.world, p, from, p.air.At)
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
				if a.State.Hour < h.At && a.CreatedAt().Before(rollup.Instant(h.At)) {
					due = append(due, a)
				}
			}
			if err := e.commit(ctx, w, evaluated(nil, due, h, now), now); err != nil {
				return err
			}
		}
	}
	return nil
}

// recheck compares the crossings of triggered alerts with the present figures of their hours. It leaves out positions:
// their current figures may mix hours of stations, so their past hours can differ without a correction.
func (e *Evaluator) recheck(ctx context.Context, w *world, now time.Time) error {
	for _, p := range w.places {
		if !p.known || !p.Stored() {
			continue
		}
		var alerts []*alert.Alert
		from := p.air.At
		for _, a := range p.alerts {
			if a.Correctable() && a.State.Hour < p.air.At && rollup.Instant(a.State.Hour).After(now.Add(-maxRecheck)) {
				alerts = append(alerts, a)
				from = min(from, a.State.Hour)
			}
		}
		if len(alerts) == 0 {
			continue
		}
		hours, err := e.hours(ctx, w.world, p, from, p.air.At)
		if err != nil {
			return err
		}
		var found []outcome
		for _, a := range alerts {
			if step, ok := a.Recheck(hours, now); ok {
				found = append(found, newOutcome(a, step, &p.air, now))
			}
		}
		if err := e.commit(ctx, w, found, now); err != nil {
			return err
		}
	}
	return nil
}

// hours returns the hours of a place from one to another, both included.
func (e *Evaluator) hours(ctx context.Context, w schema.World, p *place, from, to uint32) ([]alert.Observation, error) {
	all, err := e.Air.Hours(ctx, w, &p.Place, schema.DayOf(rollup.Instant(from)), schema.DayOf(rollup.Instant(to)))
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
