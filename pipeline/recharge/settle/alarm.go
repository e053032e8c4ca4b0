package settle

import (
	"time"

	"vayu/internal/sqlstore"
	"vayu/pipeline/wallet"
	"vayu/schema"
)

// These are the values of the column "alarm". An alarm is open while the column "resolved_at" is empty.
const (
	// AlarmLateSuccess means that the provider carried out the order of a failed recharge, or a replaced or unsent
	// order. A mark keeps the alarm from being raised twice: a posting of kind "suspend" for a failed recharge, or
	// the column "stray_at" for a replaced or unsent order.
	AlarmLateSuccess = "late_success"
	// AlarmLateFailure means that the provider did not carry out a charged recharge. The column "alarm" keeps the
	// value, so that the alarm is not raised twice.
	AlarmLateFailure = "late_failure"
)

// AlarmOf returns the alarm that the transition LateSuccess or LateFailure raises.
func AlarmOf(v Transition) string {
	if v == LateSuccess {
		return AlarmLateSuccess
	}
	return AlarmLateFailure
}

// raiseAlarm raises the alarm of the transition LateSuccess or LateFailure, and keeps the state of the recharge. It
// returns false if the alarm was raised before, or if another transaction has changed the order or the state.
func (st *transitionTx) raiseAlarm() (bool, error) {
	r := &st.out.Record
	raise := st.raiseLateFailure
	switch {
	case st.out.Transition == LateSuccess && r.Reference != st.result.Reference:
		raise = st.raiseStray
	case st.out.Transition == LateSuccess:
		raise = st.raiseLateSuccess
	}
	alarm, err := raise()
	if err != nil || alarm == "" {
		return false, err
	}
	r.Alarm, r.ResolvedAt = alarm, time.Time{}
	if err := st.recordStep(st.alarmAnswer()); err != nil {
		return false, err
	}
	if err := st.releaseLease(); err != nil {
		return false, err
	}
	return true, st.audit("recharge."+AlarmOf(st.out.Transition), map[string]any{"said": st.result.Outcome.String(), "reference": st.result.Reference})
}

// raiseLateSuccess posts the amount of a late success from the ledger "suspense". Like raiseStray and
// raiseLateFailure, it returns the alarm of the recharge, or "" if it raised none.
func (st *transitionTx) raiseLateSuccess() (alarm string, err error) {
	r := &st.out.Record
	// Lock the row before searching the posting. Otherwise two concurrent transactions on
	// PostgreSQL could both miss the posting, and one of them would fail.
	n, err := st.tx.Exec("UPDATE recharge SET tries = tries WHERE id = $1 AND reference = $2 AND state = $3", r.ID, r.Reference, string(schema.RechargeFailed))
	if err != nil || n == 0 {
		return "", err
	}
	var booked int
	if err := st.tx.QueryRow("SELECT count(*) FROM posting WHERE subject = $1 AND kind = 'suspend'", r.ID).Scan(&booked); err != nil || booked > 0 {
		return "", err
	}
	if err := wallet.Suspend(st.tx, st.now, r.Owner, r.ID, r.Operator, r.Amount); err != nil {
		return "", err
	}
	_, err = st.tx.Exec("UPDATE recharge SET alarm = $2, resolved_at = NULL WHERE id = $1", r.ID, AlarmLateSuccess)
	return AlarmLateSuccess, err
}

// raiseStray records that a replaced or unsent order was carried out. No amount is reserved for that order, so there
// is no posting. If the recharge already has another alarm, the column "alarm" keeps the other alarm, so that the
// other alarm is not raised twice.
func (st *transitionTx) raiseStray() (alarm string, err error) {
	alarm, _, err = sqlstore.One(st.tx, sqlstore.Scalar[string], `UPDATE recharge SET stray_at = $2, resolved_at = NULL,
			alarm = CASE WHEN alarm = '' THEN $3 ELSE alarm END
		WHERE id = $1 AND stray_at IS NULL RETURNING alarm`, st.out.ID, st.now.UnixMicro(), AlarmLateSuccess)
	return alarm, err
}

// raiseLateFailure records that the provider did not carry out a charged recharge.
func (st *transitionTx) raiseLateFailure() (alarm string, err error) {
	r := &st.out.Record
	n, err := st.tx.Exec("UPDATE recharge SET alarm = $2, resolved_at = NULL WHERE id = $1 AND reference = $3 AND state = $4 AND alarm <> $2",
		r.ID, AlarmLateFailure, r.Reference, string(schema.RechargeSuccess))
	if err != nil || n == 0 {
		return "", err
	}
	return AlarmLateFailure, nil
}

// alarmAnswer returns the answer that the timeline step shows for a result that raises an alarm.
func (st *transitionTx) alarmAnswer() schema.StepAnswer {
	switch {
	case st.out.Transition == LateFailure:
		return schema.AnswerLateFailure
	case st.out.Reference != st.result.Reference:
		return schema.AnswerStray
	default:
		return schema.AnswerLateSuccess
	}
}
