package evaluation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"vayu/internal/sqlstore"
	"vayu/query/aggregate"
	"vayu/query/alert"
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

// evaluate evaluates alerts and stores the changes. It skips places without current figures or with unevaluated hours.
func (e *Evaluator) evaluate(ctx context.Context, w *world, groups []group, now time.Time) error {
	var found []outcome
	var mu sync.Mutex // guards found
	inParallel(groups, func(part []group) {
		var changes []outcome
		for _, g := range part {
			if g.known && !g.behind {
				changes = w.changes(changes, g.alerts, &g.air, now)
			}
		}
		mu.Lock()
		found = append(found, changes...)
		mu.Unlock()
	})
	slices.SortFunc(found, func(a, b outcome) int { return cmp.Compare(a.alert.ID, b.alert.ID) })
	if err := e.commit(ctx, w, found, now); err != nil {
		return err
	}
	for _, g := range groups {
		if g.known && !g.behind {
			g.evaluated = max(g.evaluated, g.air.At)
		}
	}
	return nil
}

// inParallel calls `do` concurrently, with a part of the groups for each processor. No two groups have the same alerts.
func inParallel(groups []group, do func(part []group)) {
	processors := runtime.GOMAXPROCS(0)
	var running sync.WaitGroup
	for part := range slices.Chunk(groups, 1+len(groups)/processors) {
		running.Go(func() { do(part) })
	}
	running.Wait()
}

// changes appends to `found` the changes that observation o causes to the alerts of one place.
func (w *world) changes(found []outcome, alerts []*alert.Alert, o *alert.Observation, now time.Time) []outcome {
	for _, a := range alerts {
		if w.publication == w.inherited && a.OfHour() && o.At == a.State.Hour {
			continue
		}
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

// errOlderAir means that another instance has begun to evaluate a newer publication (see advance).
var errOlderAir = errors.New("another instance has evaluated newer air")

// advance stores, before any change, that the evaluation of a publication has begun. After that, no instance stores
// changes that were computed from an older publication.
func (e *Evaluator) advance(ctx context.Context, w *world, p aggregate.Publication) error {
	err := e.DB.Update(ctx, func(tx *sqlstore.Tx) error { return advance(tx, w.world, p) })
	if err == nil {
		w.publication = p
	}
	return err
}

func advance(tx *sqlstore.Tx, w schema.World, p aggregate.Publication) error {
	newest, err := storePublication(tx, w, p)
	if err == nil && !newest {
		err = errOlderAir
	}
	return err
}

// commit stores changes in groups, each in a transaction with its events. If another instance evaluates a newer
// publication, commit returns errOlderAir. Groups already stored remain, and a repeated evaluation does not find their
// changes again. If a change cannot be stored even alone, it is logged, and a later evaluation finds it again.
func (e *Evaluator) commit(ctx context.Context, w *world, found []outcome, now time.Time) error {
	for part := range slices.Chunk(found, commitGroup) {
		err := e.commitGroup(ctx, w, part, now)
		if err != nil && !errors.Is(err, errOlderAir) && ctx.Err() == nil {
			err = e.commitEach(ctx, w, part, now)
		}
		if err != nil {
			return fmt.Errorf("storing changes of alerts: %w", err)
		}
	}
	return nil
}

// commitEach stores the changes of a group one by one, after the transaction of the whole group has failed. If a change
// fails, a transaction without changes follows. If this fails too, commitEach returns its error: the store is
// unavailable, or another instance evaluates a newer publication.
func (e *Evaluator) commitEach(ctx context.Context, w *world, part []outcome, now time.Time) error {
	for i := range part {
		failed := e.commitGroup(ctx, w, part[i:i+1], now)
		if failed == nil {
			continue
		}
		if err := e.advance(ctx, w, w.publication); err != nil {
			return err
		}
		e.metrics.failures.Inc()
		e.Log.ErrorContext(ctx, "the change of an alert is not stored", "alert", part[i].alert.ID, "error", failed)
	}
	return nil
}

// commitGroup stores changes in one transaction with their events.
func (e *Evaluator) commitGroup(ctx context.Context, w *world, part []outcome, now time.Time) error {
	ids, states := make([]string, len(part)), make([]alert.State, len(part))
	for i := range part {
		ids[i], states[i] = part[i].alert.ID, part[i].step.State
	}
	var saved map[string]bool
	err := e.DB.Update(ctx, func(tx *sqlstore.Tx) (err error) {
		if err := advance(tx, w.world, w.publication); err != nil {
			return err
		}
		if saved, err = alert.SaveStates(tx, ids, states); err != nil {
			return err
		}
		var entries []alert.Entry
		for i := range part {
			if o := &part[i]; saved[ids[i]] && o.step.Event != "" {
				entries = append(entries, alert.Entry{Alert: o.alert, Event: o.step.Event, Version: o.step.State.Version, Data: &o.data})
			}
		}
		return alert.Record(tx, e.Events, entries, now)
	})
	if err != nil {
		return err
	}
	for i := range part {
		if !saved[ids[i]] { // another instance or the account has changed the alert
			e.lost = append(e.lost, part[i].alert.ID)
			continue
		}
		e.apply(&part[i])
	}
	return nil
}

// apply updates an alert in memory after the transaction that stored its change.
func (e *Evaluator) apply(o *outcome) {
	o.alert.State = o.step.State
	if o.step.Event != "" {
		e.metrics.changes.WithLabelValues(string(o.step.Event), string(o.step.Reason)).Inc()
	}
}
