package reconcile

import (
	"errors"
	"fmt"
	"net/http"

	"golang.org/x/sync/errgroup"

	"vayu/pipeline/recharge/order"
	"vayu/pipeline/recharge/record"
	"vayu/pipeline/recharge/settle"
	"vayu/schema"
)

// Actor names the source of automatic settlements in the audit log.
const Actor = settle.ByFile

// maxConcurrent is the maximum number of concurrent settlements. Each settlement is a transaction
// of its own, but SQLite commits concurrent transactions together.
const maxConcurrent = 16

// processGroup compares a group of lines with the store, settles differences where possible, and reports them.
func (r *run) processGroup(lines []*Line) error {
	ours, strangers, err := r.find(lines)
	if err != nil {
		return err
	}
	var all []*Difference
	for _, l := range lines {
		d := r.classify(l, ours[l.Reference], strangers[idOf(l.Reference)])
		if d.Kind == "" {
			r.sum.Matches[l.Status] = r.sum.Matches[l.Status].with(l, d.Ours)
			continue
		}
		if !r.isResolved(d) {
			all = append(all, d)
		}
	}
	failed := r.settle(all)
	for _, d := range all {
		if err := r.count(d); err != nil {
			return err
		}
	}
	return failed
}

// find looks up the recharges of lines. The map `ours` has the recharges of this provider that have the reference of a
// line, by reference. For each other line, find looks for a recharge of this world by the id in the line's reference.
// The map `strangers` has these recharges, by id.
func (r *run) find(lines []*Line) (ours, strangers map[string]*record.Record, err error) {
	view := r.DB.View(r.ctx)
	names := make([]string, len(lines))
	for i, l := range lines {
		names[i] = l.Reference
	}
	ours, err = find(view, &selectByReference, []any{r.World.String(), r.Provider}, names, func(o *record.Record) string { return o.Reference })
	if err != nil {
		return nil, nil, err
	}
	var rest []string
	for _, l := range lines {
		if ours[l.Reference] == nil {
			rest = append(rest, idOf(l.Reference))
		}
	}
	strangers, err = find(view, &selectByID, nil, rest, func(o *record.Record) string { return o.ID })
	for id, o := range strangers {
		if o.Owner.World != r.World { // recharges of the other world are ignored
			delete(strangers, id)
		}
	}
	return ours, strangers, err
}

func (r *run) classify(l *Line, ours, stranger *record.Record) *Difference {
	d := &Difference{Line: l, At: l.Number, Ours: ours}
	switch {
	case r.seen[keyOf(l.Reference)] > 1:
		d.Kind = Duplicate
	case ours != nil:
		d.Kind = classifyLine(l, ours, r.To)
	default:
		d.Kind, d.Ours = classifyUnmatched(l, stranger), stranger
	}
	return d
}

// settle settles the differences whose kind is Automatic, several at a time, unless r.Settler is nil. It returns the
// first error, which ends the comparison. A refused settlement is not an error.
func (r *run) settle(all []*Difference) error {
	if r.Settler == nil {
		return nil
	}
	var group errgroup.Group
	group.SetLimit(maxConcurrent)
	for _, d := range all {
		if d.Kind.Info().Automatic {
			group.Go(func() error { return r.settleOne(d) })
		}
	}
	return group.Wait()
}

// settleOne settles one difference. If the settlement is refused, it stores the reason in the
// difference and returns no error.
func (r *run) settleOne(d *Difference) error {
	rec, err := r.Settler.Settle(r.ctx, r.World, r.Provider, d.Line.Reference, answerFor(d.Kind, d.Line.ID), Actor)
	if refused, ok := errors.AsType[*schema.Problem](err); ok && refused.Code.Status() < http.StatusInternalServerError {
		d.Settled = &Settled{State: d.Ours.State, Alarm: d.Ours.Alarm, Refusal: refused.Message}
		return nil
	}
	if err != nil {
		return fmt.Errorf("settling %s: %w", d.Line.Reference, err)
	}
	d.Settled = &Settled{State: rec.State, Alarm: rec.Alarm, Done: isDone(d.Kind, &rec)}
	return nil
}

// answerFor returns the provider's answer that settles a difference of a kind. `id` is the provider's transaction id;
// "" if it is unknown.
func answerFor(k Kind, id string) order.Answer {
	a := order.Answer{ProviderRef: id}
	switch k {
	case SettleFailed:
		a.Outcome, a.Code = order.Failed, schema.OperatorNetworkError
	case Refund:
		a.Outcome = order.Reversed
	default:
		a.Outcome = order.Succeeded
	}
	return a
}

// isDone reports whether a recharge already has the state or alarm that a kind of difference proposes.
func isDone(k Kind, r *record.Record) bool {
	switch k {
	case SettleSuccess:
		return r.State == schema.RechargeSuccess
	case SettleFailed:
		return r.State == schema.RechargeFailed
	case Refund:
		return r.State == schema.RechargeRefunded
	default:
		return r.Alarm == settle.AlarmLateSuccess
	}
}
