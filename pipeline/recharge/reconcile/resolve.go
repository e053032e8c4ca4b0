package reconcile

import (
	"context"
	"fmt"
	"time"

	"vayu/internal/access/audit"
	"vayu/internal/sqlstore"
	"vayu/pipeline/recharge/order"
	"vayu/pipeline/recharge/record"
	"vayu/schema"
)

// Resolution is the result of a manual investigation of a recharge.
type Resolution struct {
	ID   string // id of the recharge
	Note string // source and finding, for the audit log
	By   string // person who enters the result, for the audit log
}

const resolveRow = "UPDATE recharge SET resolved_at = $2 WHERE id = $1 AND alarm <> '' AND resolved_at IS NULL RETURNING " + record.Columns

// Resolve closes the alarm of a recharge and adds a row to the audit log. It moves no money. It
// fails if there is no such recharge, or if the recharge has no open alarm. For an invalid note or
// an unknown id the error is a *schema.Problem.
func Resolve(ctx context.Context, db *sqlstore.DB, now time.Time, what Resolution) (r record.Record, err error) {
	if err := what.check(); err != nil {
		return r, err
	}
	err = db.Update(ctx, func(tx *sqlstore.Tx) error {
		found, ok, err := record.Table.One(tx, resolveRow, what.ID, now.UnixMicro())
		switch {
		case err != nil:
			return fmt.Errorf("resolving %s: %w", what.ID, err)
		case !ok:
			return unresolvableError(tx, what.ID)
		}
		r = found
		return what.audit(tx, now, &r, "recharge.resolved", map[string]any{"alarm": r.Alarm})
	})
	return r, err
}

// unresolvableError returns the error that explains why a recharge has no open alarm.
func unresolvableError(q sqlstore.Querier, id string) error {
	r, err := queryOne(q, id)
	switch {
	case err != nil:
		return err
	case r.Alarm == "":
		return fmt.Errorf("recharge %s has no alarm; it is %s", id, r.State)
	}
	return fmt.Errorf("recharge %s is resolved already, since %s", id, r.ResolvedAt.Format(time.RFC3339))
}

// SettleManually settles a recharge by a result that a person got from the operator. For a pending recharge, any
// final outcome is valid. For a successful recharge, only [order.Reversed] is valid. The note is stored in the audit
// log first, so that an interrupted call can be repeated. SettleManually fails if there is no such recharge, if the
// outcome does not apply to the recharge's state, or if that state changed meanwhile.
func SettleManually(ctx context.Context, db *sqlstore.DB, by Settler, now time.Time, outcome order.Outcome, what Resolution) (record.Record, error) {
	if err := what.check(); err != nil {
		return record.Record{}, err
	}
	var r record.Record
	err := db.Update(ctx, func(tx *sqlstore.Tx) (err error) {
		if r, err = queryOne(tx, what.ID); err != nil {
			return err
		}
		if err := checkResult(&r, outcome); err != nil {
			return err
		}
		return what.audit(tx, now, &r, "recharge.settle", map[string]any{"said": outcome.String()})
	})
	if err != nil {
		return record.Record{}, err
	}
	kind := map[order.Outcome]Kind{order.Succeeded: SettleSuccess, order.Failed: SettleFailed, order.Reversed: SettleFailed}[outcome]
	if r.State == schema.RechargeSuccess {
		kind = Refund
	}
	out, err := by.Settle(ctx, r.Owner.World, r.Provider, r.Reference, answerFor(kind, ""), what.By)
	if err == nil && !isDone(kind, &out) {
		err = fmt.Errorf("it is %s: it changed meanwhile", out.State)
	}
	if err != nil {
		return record.Record{}, fmt.Errorf("settling %s: %w", r.ID, err)
	}
	return out, nil
}

// checkResult returns an error if an outcome does not apply to the state of a recharge.
func checkResult(r *record.Record, outcome order.Outcome) error {
	switch {
	case outcome != order.Succeeded && outcome != order.Failed && outcome != order.Reversed:
		return fmt.Errorf("%q is not a final outcome", outcome)
	case r.State == schema.RechargePending, r.State == schema.RechargeSuccess && outcome == order.Reversed:
		return nil
	case r.State == schema.RechargeSuccess:
		return fmt.Errorf("recharge %s is success already, and a success can only be reversed", r.ID)
	}
	return fmt.Errorf("recharge %s is %s already, and that is final", r.ID, r.State)
}

// queryOne reads a recharge. If there is none, the error is the problem not_found.
func queryOne(q sqlstore.Querier, id string) (r record.Record, err error) {
	found := false
	if schema.IsID(id) {
		if r, found, err = record.Table.Get(q, id); err != nil {
			return r, fmt.Errorf("reading recharge %s: %w", id, err)
		}
	}
	if !found {
		err = schema.NewProblem(schema.NotFound, "id", "There is no such recharge.")
	}
	return r, err
}

func (w Resolution) check() error {
	if !schema.IsRef(w.Note) {
		return schema.NewProblem(schema.InvalidRequest, "note", "A note has 1 to 255 printable characters.")
	}
	return nil
}

func (w Resolution) audit(tx *sqlstore.Tx, now time.Time, r *record.Record, action string, detail map[string]any) error {
	detail["note"] = w.Note
	return audit.Append(tx, now, r.Audit(w.By, action, detail))
}
