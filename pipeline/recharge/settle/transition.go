// Package settle applies the results of providers to recharges. One function maps each result to a transition. One
// transaction of the store writes the recharge and the postings, event and audit row of a transition.
package settle

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"time"

	"vayu/internal/access/audit"
	"vayu/internal/failpoint"
	"vayu/internal/sqlstore"
	"vayu/internal/workqueue"
	"vayu/pipeline/batch/item"
	"vayu/pipeline/recharge/order"
	"vayu/pipeline/recharge/record"
	"vayu/pipeline/transaction"
	"vayu/pipeline/wallet"
	"vayu/schema"
)

// Effect is the effect of a provider result on a recharge.
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
	// Observe counts and logs the effect of a result, after the effect is stored.
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

// Settle applies a provider result to a recharge as it was last read. Each change is a compare-and-set on that state.
// If the state has changed, Settle locks the row, reads it and decides again.
func (s *Settler) Settle(ctx context.Context, r *record.Record, res *Result, own workqueue.Lease) (Effect, error) {
	st := transitionTx{Settler: s, result: res, lease: own}
	err := s.DB.Update(sqlstore.WithWorld(ctx, r.Owner.World), func(tx *sqlstore.Tx) error {
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

// applyOrReread applies the transition for the recharge as last read. If that copy is stale, it reads the current row
// and decides again.
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
		if locked { // a repeated result
			st.out.Transition = Noop
			return st.releaseLease()
		}
		// An update locks the row until the transaction ends, on PostgreSQL too.
		r, found, err := record.Table.One(st.tx, "UPDATE recharge SET tries = tries WHERE id = $1 RETURNING "+record.Columns, id)
		if err != nil || !found {
			return errors.Join(err, ErrMissingRow(found))
		}
		st.out.Record = r
	}
}

// ErrMissingRow returns an error unless found is true. It is for rows that are never deleted.
func ErrMissingRow(found bool) error {
	if found {
		return nil
	}
	return errors.New("the row is missing in the state store")
}

// decideReplaced decides about a result for a replaced or unsent order. Only a success has an effect, because money may
// have moved.
func decideReplaced(res *Result) Transition {
	if res.Err == nil && res.Outcome == order.Succeeded {
		return LateSuccess
	}
	return Noop
}

// apply applies the transition. It returns false if the recharge has changed since it was read, or if the alarm was
// raised before. It also returns false for a refusal if the lease is lost.
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

const (
	// FinishRow needs no lease, because a provider's outcome is valid with or without a lease.
	FinishRow = `UPDATE recharge SET state = $3, provider_ref = $4, circle = $5, error_code = $6, error_message = $7, due_at = $8, token = '', finished_at = $9,
		sent_at = COALESCE($10, sent_at)
	WHERE id = $1 AND reference = $2 AND state = 'pending'`
	// finishOwnRow is FinishRow after a failed call. It requires the lease, because without the lease another instance
	// may have sent the order.
	finishOwnRow = FinishRow + " AND token = $11"
)

// finish moves a recharge from pending to success or failed.
func (st *transitionTx) finish(to schema.RechargeState, code schema.Code, text string) (bool, error) {
	r, due := &st.out.Record, st.result.nextEnquiry(st.now)
	was := *r
	st.copyReferences()
	query, args := FinishRow, []any{r.ID, r.Reference, string(to), r.ProviderRef, r.Circle, string(code), text, sqlstore.Micros(due), st.now.UnixMicro(),
		sqlstore.Micros(st.sentAt())}
	if st.result.Err != nil {
		query, args = finishOwnRow, append(args, st.lease.Token)
	}
	n, err := st.tx.Exec(query, args...)
	if err != nil || n == 0 {
		*r = was
		return false, err
	}
	at, err := st.recordFinalStep(&was, CallSubmit, sqlstore.TruncateMicros(st.now), "finished_at")
	if err != nil {
		return false, err
	}
	st.out.Due = due
	st.setSentAt()
	r.State, r.ErrorCode, r.ErrorMessage, r.FinishedAt = to, code, text, at
	if to == schema.RechargeSuccess {
		err = wallet.Commit(st.tx, st.now, r.Owner, r.ID, r.Operator, r.Amount)
	} else {
		err = wallet.Release(st.tx, st.now, r.Owner, r.ID, r.Amount)
	}
	if err != nil {
		return false, err
	}
	if err := record.AppendEvent(st.tx, st.Events, r); err != nil {
		return false, err
	}
	if err := st.audit("recharge."+string(to), nil); err != nil {
		return false, err
	}
	return true, FinishItem(st.tx, st.now, r)
}

// sentAt returns the start of the submit call that has ended; zero for other calls. It replaces the estimate in the
// row: during a submit call, the row has the latest time at which the call can start.
func (st *transitionTx) sentAt() time.Time {
	if st.result.Call != CallSubmit {
		return time.Time{}
	}
	return sqlstore.TruncateMicros(st.result.CalledAt)
}

func (st *transitionTx) setSentAt() {
	if at := st.sentAt(); !at.IsZero() {
		st.out.SentAt = at
	}
}

// copyReferences copies the provider's reference and circle from the result.
func (st *transitionTx) copyReferences() {
	if st.result.Err != nil {
		return
	}
	if ref := CleanText(st.result.ProviderRef); ref != "" {
		st.out.ProviderRef = ref
	}
	if circle := CleanText(st.result.Circle); circle != "" {
		st.out.Circle = circle
	}
}

// FinishItem counts a finished batch item. It must be the last change, because it locks the batch.
func FinishItem(tx *sqlstore.Tx, now time.Time, r *record.Record) error {
	if r.Batch.Batch == "" {
		return nil
	}
	_, err := item.Finish(tx, now, r.Batch.Batch, r.Batch.Index, r.State == schema.RechargeSuccess)
	return err
}

// reversedReason is the default reason of a reversal.
const reversedReason = "The operator reversed the recharge."

const refundRow = `UPDATE recharge SET state = 'refunded', due_at = NULL, token = '', refunded_at = $3,
	refund_id = CASE WHEN refund_id = '' THEN $4 ELSE refund_id END, refund_reason = CASE WHEN refund_id = '' THEN $5 ELSE refund_reason END
	WHERE id = $1 AND reference = $2 AND state = 'success' RETURNING refund_id, refund_reason`

// refund moves a recharge from success to refunded.
func (st *transitionTx) refund() (bool, error) {
	r, at := &st.out.Record, st.stepTime()
	reason := CleanText(st.result.Reason)
	if reason == "" {
		reason = reversedReason
	}
	err := st.tx.QueryRow(refundRow, r.ID, r.Reference, at.UnixMicro(), record.NewRefundID(st.now), reason).Scan(&r.RefundID, &r.RefundReason)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return false, nil
	case err != nil:
		return false, err
	}
	if r.RefundedAt, err = st.recordFinalStep(r, CallReverse, at, "refunded_at"); err != nil {
		return false, err
	}
	r.State = schema.RechargeRefunded
	if err := wallet.Refund(st.tx, st.now, r.Owner, r.ID, r.Operator, r.Amount); err != nil {
		return false, err
	}
	if err := record.AppendEvent(st.tx, st.Events, r); err != nil {
		return false, err
	}
	return true, st.audit("recharge.refunded", map[string]any{"refund_id": r.RefundID})
}

// refuse withdraws a refund that the provider refused. The recharge becomes due now, because the refund has overwritten
// the time of its next poll. If the lease is lost, nothing changes, because the refund call of another instance may
// succeed.
func (st *transitionTx) refuse() (bool, error) {
	r := &st.out.Record
	n, err := st.tx.Exec(`UPDATE recharge SET refund_id = '', refund_reason = '', due_at = $3, token = '', tries = 0
		WHERE id = $1 AND state = 'success' AND refund_id = $2 AND token = $4`, r.ID, r.RefundID, st.now.UnixMicro(), st.lease.Token)
	if err != nil || n == 0 {
		return false, err
	}
	st.out.Due, r.Tries = st.now, 0
	if err := st.recordStep(st.result.stepAnswer()); err != nil {
		return false, err
	}
	err = st.audit("recharge.refund_refused", map[string]any{"refund_id": r.RefundID})
	r.RefundID, r.RefundReason = "", ""
	return true, err
}

// audit appends the effect of a result to the account's audit log.
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
