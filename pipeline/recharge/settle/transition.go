// Package settle applies the results of providers to recharges. The function decide maps a result to a transition. One
// transaction of the store writes the recharge, and the postings, event and audit row of the transition.
package settle

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"vayu/internal/access/audit"
	"vayu/internal/failpoint"
	"vayu/internal/sqlstore"
	"vayu/internal/workqueue"
	"vayu/pipeline/recharge/order"
	"vayu/pipeline/recharge/record"
	"vayu/pipeline/transaction"
	"vayu/schema"
)

// Effect is what a provider result has changed in a recharge.
type Effect struct {
	record.Record

	Transition Transition
	Due        time.Time // due time that the result set: next poll, or end of a new lease; zero for none
}

// Settler applies results of providers to recharges.
type Settler struct {
	transaction.Options

	Waiters *transaction.Waiters[transaction.Update[record.Record]]
	// Link returns the link to a provider; nil if the provider is not configured any more.
	Link func(world schema.World, name string) *transaction.Link
	// Observe counts and logs an effect after it is stored.
	Observe func(*Effect, *Result)
}

// transitionTx applies one provider result in one transaction.
type transitionTx struct {
	*Settler

	tx     *sqlstore.Tx
	now    time.Time
	result *Result
	lease  workqueue.Lease
	out    Effect
}

// Settle applies a provider result to a recharge. Each change is a compare-and-set on the state that was last read.
// If the state has changed, Settle locks the row, reads it and decides again.
func (s *Settler) Settle(ctx context.Context, r *record.Record, res *Result, own workqueue.Lease) (Effect, error) {
	st := transitionTx{Settler: s, result: res, lease: own}
	err := s.DB.Update(sqlstore.WithGroup(ctx, record.Table.Name, r.Owner), func(tx *sqlstore.Tx) error {
		st.tx, st.now, st.out = tx, s.Now(), Effect{Record: *r}
		return st.applyOrReread()
	})
	if err != nil {
		return Effect{}, fmt.Errorf("settling %s: %w", r.ID, err)
	}
	failpoint.Point(failpoint.RechargeSettled)
	s.Observe(&st.out, res)
	if st.out.Transition != Noop {
		update := transaction.Update[record.Record]{Record: st.out.Record}
		if st.out.Transition == RetryLater {
			update.Retry = st.out.Due
		}
		s.Waiters.Notify(st.out.ID, update)
	}
	return st.out, nil
}

// applyOrReread applies the transition to the recharge as it was last read. If that copy is stale, applyOrReread
// reads the current row and decides again.
func (st *transitionTx) applyOrReread() error {
	id := st.out.ID
	for locked := false; ; locked = true {
		st.out.Transition = decide(&st.out.Record, st.result)
		if st.out.Reference != st.result.Reference { // the result is that of a replaced or unsent order
			st.out.Transition = decideReplaced(st.result)
		}
		hit, err := st.apply()
		if err != nil || hit {
			return err
		}
		if locked { // the result was applied before, or its lease is lost
			st.out.Transition = Noop
			return st.releaseLease()
		}
		// The update changes nothing. It locks the row until the transaction ends, on PostgreSQL as on SQLite.
		r, found, err := record.Table.One(st.tx, "UPDATE recharge SET tries = tries WHERE id = $1 RETURNING "+record.Columns, id)
		if err != nil || !found {
			return errors.Join(err, ErrMissingRow(found))
		}
		st.out.Record = r
	}
}

// ErrMissingRow returns an error if `found` is false. It is for rows that are never deleted.
func ErrMissingRow(found bool) error {
	if found {
		return nil
	}
	return errors.New("the row is missing in the state store")
}

// decideReplaced returns the transition for a result of a replaced or unsent order. Only a success has an effect,
// because money may have moved.
func decideReplaced(res *Result) Transition {
	if res.Err == nil && res.Outcome == order.Succeeded {
		return LateSuccess
	}
	return Noop
}

// apply applies the transition. It returns false if the recharge has changed since it was read, or if the alarm was
// raised before. For RefuseRefund, and for Fail after a failed call, it also returns false if the lease is lost.
func (st *transitionTx) apply() (bool, error) {
	switch st.out.Transition {
	case Succeed:
		return st.finish(schema.RechargeSuccess, "", "")
	case Fail:
		code := failureOf(st.result)
		return st.finish(schema.RechargeFailed, code, record.FailureText(code))
	case RetryLater:
		return true, st.postpone()
	case Resend, ConfirmRefund, RetryRefund:
		return true, st.renewLease()
	case Redirect:
		return st.redirect()
	case Refund:
		return st.refund()
	case RefuseRefund:
		return st.refuse()
	case LateSuccess, LateFailure:
		return st.raiseAlarm()
	default:
		return true, st.releaseLease()
	}
}

// audit appends an entry about the effect of the result to the account's audit log. `more` has further details.
func (st *transitionTx) audit(action string, more map[string]any) error {
	r := &st.out.Record
	detail := map[string]any{"amount": r.Amount, "operator": r.Operator, "provider": r.Provider}
	if r.ProviderRef != "" {
		detail["provider_ref"] = r.ProviderRef
	}
	if r.ErrorCode != "" {
		detail["code"] = r.ErrorCode
	}
	maps.Copy(detail, more)
	return audit.Append(st.tx, st.now, r.Audit(st.result.By, action, detail))
}
