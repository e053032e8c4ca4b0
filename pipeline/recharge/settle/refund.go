package settle

import (
	"database/sql"
	"errors"

	"vayu/pipeline/recharge/record"
	"vayu/pipeline/wallet"
	"vayu/schema"
)

// reversedReason is the default reason of a reversal.
const reversedReason = "The operator reversed the recharge."

const refundRow = `UPDATE recharge SET state = 'refunded', due_at = NULL, token = '', refunded_at = $3,
	refund_id = CASE WHEN refund_id = '' THEN $4 ELSE refund_id END, refund_reason = CASE WHEN refund_id = '' THEN $5 ELSE refund_reason END
	WHERE id = $1 AND reference = $2 AND state = 'success' RETURNING refund_id, refund_reason`

// refund sets a successful recharge to refunded and credits its amount. It returns false if nothing changed.
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

// refuse deletes the request for a refund that the provider refused. The recharge becomes due now, because the refund
// has overwritten the time of its next poll. If the lease is lost, nothing changes, because the refund call of
// another instance may succeed.
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
