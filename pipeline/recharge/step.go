package recharge

import (
	"strings"
	"time"

	"vayu/internal/sqlstore"
	"vayu/pipeline/transaction"
	"vayu/schema"
)

// stepTime returns the time of a step. If the recharge is final, that is after the time of
// its final state, despite clock skew.
func (st *transitionTx) stepTime() time.Time {
	at := sqlstore.TruncateMicros(st.now)
	if final := st.out.FinishedAt; !final.IsZero() && !at.After(final) {
		return final.Add(time.Microsecond)
	}
	return at
}

// recordStep stores the call and the kind of its answer.
func (st *transitionTx) recordStep(answer schema.StepAnswer) error {
	_, err := transaction.RecordStep(st.tx, st.out.ID, st.result.stepAct(), answer, st.stepTime())
	return err
}

// recordFinalStep stores the step that finished or refunded a recharge. The answer to the
// first call needs no step, because the row has it. It returns the time of the final state.
func (st *transitionTx) recordFinalStep(was *Record, first call, at time.Time, column string) (time.Time, error) {
	res := st.result
	if res.err == nil && res.call == first && !res.resent && was.Tries == 0 && (first == callReverse || was.Reference == was.ID) {
		return at, nil
	}
	return recharges.RecordFinal(st.tx, was.ID, res.stepAct(), res.stepAnswer(), at, column)
}

// recordCallback records a callback about a recharge that stays pending.
func (st *transitionTx) recordCallback() error {
	r := &st.out.Record
	if st.result.call != callNone || r.State != schema.RechargePending {
		return nil
	}
	// An update locks out concurrent writers of steps.
	n, err := st.tx.Exec("UPDATE recharge SET tries = tries WHERE id = $1 AND reference = $2 AND state = 'pending'", r.ID, st.result.reference)
	if err != nil || n == 0 {
		return err
	}
	return st.recordStep(st.result.stepAnswer())
}

// ByFile is the source of results from a provider's file, in the audit log.
const ByFile = "reconcile"

// byCallback begins the source of a callback's result; the provider's name follows. If a
// result without a call has neither this source nor ByFile, a person entered it.
const byCallback = "provider:"

// stepAct returns the kind of timeline step that a result is recorded as.
func (res *providerResult) stepAct() schema.StepAct {
	switch {
	case res.call != callNone:
		return [...]schema.StepAct{callSubmit: schema.ActSubmit, callEnquire: schema.ActEnquire, callReverse: schema.ActReverse}[res.call]
	case strings.HasPrefix(res.by, byCallback):
		return schema.ActCallback
	case res.by == ByFile:
		return schema.ActFile
	default:
		return schema.ActManual
	}
}

// stepAnswer returns the outcome that the timeline step of a result shows.
func (res *providerResult) stepAnswer() schema.StepAnswer {
	switch {
	case res.err != nil && res.Outcome != NotSubscriber: // with NotSubscriber the error is that of the lookup
		return transaction.MissingAnswer(res.err)
	case res.call == callReverse && (res.Outcome == Failed || res.Outcome == NotSubscriber):
		return schema.AnswerRefused
	case res.Outcome < Pending || res.Outcome > Reversed:
		return schema.AnswerUnreadable
	}
	return [...]schema.StepAnswer{
		schema.AnswerPending, schema.AnswerSucceeded, schema.AnswerFailed, schema.AnswerNotSubscriber, schema.AnswerUnknown, schema.AnswerReversed,
	}[res.Outcome]
}

// alarmAnswer returns the answer of the step for a result that raises an alarm.
func (st *transitionTx) alarmAnswer() schema.StepAnswer {
	switch {
	case st.out.transition == lateFailure:
		return schema.AnswerLateFailure
	case st.out.Reference != st.result.reference:
		return schema.AnswerStray
	default:
		return schema.AnswerLateSuccess
	}
}

// summaryOf returns the part of a timeline that the row holds. HasSteps means that
// stored steps exist.
func summaryOf(r *Record, hasSteps bool) *transaction.Summary {
	o := &transaction.Summary{Created: r.CreatedAt, Sent: r.SentAt, Act: schema.ActSubmit, Finished: r.FinishedAt, Outcome: schema.AnswerSuccess, Refunded: r.RefundedAt}
	answer := schema.AnswerSucceeded
	if r.State == schema.RechargeFailed {
		o.Outcome, answer = schema.AnswerFailed, schema.AnswerFailed
	}
	// Older recharges have no steps. If one was polled, its last answer is unknown.
	if r.Reference == r.ID && (hasSteps || r.Tries == 0) {
		o.Answer = answer
	}
	return o
}
