package settle

import (
	"strings"
	"time"

	"vayu/internal/sqlstore"
	"vayu/pipeline/recharge/order"
	"vayu/pipeline/recharge/record"
	"vayu/pipeline/transaction"
	"vayu/schema"
)

// stepTime returns the time of a step. A step after the final state is always later than FinishedAt, even if this
// instance's clock is behind.
func (st *transitionTx) stepTime() time.Time {
	at := sqlstore.TruncateMicros(st.now)
	if final := st.out.FinishedAt; !final.IsZero() && !at.After(final) {
		return final.Add(time.Microsecond)
	}
	return at
}

// recordStep stores the result as a step of the timeline. `answer` is the kind of answer that the step shows.
func (st *transitionTx) recordStep(answer schema.StepAnswer) error {
	_, err := transaction.RecordStep(st.tx, st.out.ID, st.result.stepAct(), answer, st.stepTime())
	return err
}

// recordFinalStep stores the step that finished or refunded a recharge, and returns the time of the final state. It
// stores no step for the result of the first call of the kind `first`, because the row has that answer itself.
func (st *transitionTx) recordFinalStep(was *record.Record, first CallKind, at time.Time, column string) (time.Time, error) {
	res := st.result
	if res.Err == nil && res.Call == first && !res.Resent && was.Tries == 0 && (first == CallReverse || was.Reference == was.ID) {
		return at, nil
	}
	return record.Table.RecordFinal(st.tx, was.ID, res.stepAct(), res.stepAnswer(), at, column)
}

// recordCallback stores a step for a result without a call, such as a callback, if the recharge stays pending.
func (st *transitionTx) recordCallback() error {
	r := &st.out.Record
	if st.result.Call != CallNone || r.State != schema.RechargePending {
		return nil
	}
	// The update locks the row, so that no other transaction writes steps at the same time.
	n, err := st.tx.Exec("UPDATE recharge SET tries = tries WHERE id = $1 AND reference = $2 AND state = 'pending'", r.ID, st.result.Reference)
	if err != nil || n == 0 {
		return err
	}
	return st.recordStep(st.result.stepAnswer())
}

// ByFile is the source of results from a provider's file, in the audit log.
const ByFile = "reconcile"

// stepAct returns the kind of timeline step for a result. A result without a call came in a callback, from a file or
// from a person.
func (res *Result) stepAct() schema.StepAct {
	switch {
	case res.Call != CallNone:
		return [...]schema.StepAct{CallSubmit: schema.ActSubmit, CallEnquire: schema.ActEnquire, CallReverse: schema.ActReverse}[res.Call]
	case strings.HasPrefix(res.By, transaction.ByCallback):
		return schema.ActCallback
	case res.By == ByFile:
		return schema.ActFile
	default:
		return schema.ActManual
	}
}

// stepAnswer returns the outcome that the timeline step of a result shows.
func (res *Result) stepAnswer() schema.StepAnswer {
	switch {
	case res.Err != nil && res.Outcome != order.NotSubscriber: // with NotSubscriber, Err is the error of the lookup
		return transaction.MissingAnswer(res.Err)
	case res.Call == CallReverse && (res.Outcome == order.Failed || res.Outcome == order.NotSubscriber):
		return schema.AnswerRefused
	case !res.Outcome.IsDefined():
		return schema.AnswerUnreadable
	}
	return [...]schema.StepAnswer{
		schema.AnswerPending, schema.AnswerSucceeded, schema.AnswerFailed, schema.AnswerNotSubscriber, schema.AnswerUnknown, schema.AnswerReversed,
	}[res.Outcome]
}
