package verify

import (
	"vayu/internal/sqlstore"
	"vayu/pipeline/transaction"
	"vayu/pipeline/verify/bank"
	"vayu/schema"
)

// recordStep stores the call and the kind of its answer in the timeline.
func (st *transitionTx) recordStep() error {
	_, err := transaction.RecordStep(st.tx, st.out.ID, st.result.stepAct(), st.result.stepAnswer(), sqlstore.TruncateMicros(st.now))
	return err
}

// recordFinalStep records the step that ends a verification. The answer to the first call needs no
// step, because the verification's row holds it. If clock skew between instances gave an earlier
// step a later time, the verification ends at the time of that step.
func (st *transitionTx) recordFinalStep() error {
	r, res := &st.out.Record, st.result
	if res.err == nil && res.call == firstCall(r) && !res.resent && r.Tries == 0 && (res.Outcome == bank.Found || res.Outcome == bank.NotFound) {
		return nil
	}
	var err error
	r.FinishedAt, err = verifications.RecordFinal(st.tx, r.ID, res.stepAct(), res.stepAnswer(), r.FinishedAt, "finished_at")
	return err
}

// recordCallback records a callback that leaves the verification pending.
func (st *transitionTx) recordCallback() error {
	if st.result.call != callNone {
		return nil
	}
	// The update locks the row against concurrent steps.
	n, err := st.tx.Exec("UPDATE verification SET tries = tries WHERE id = $1 AND state = 'pending'", st.out.ID)
	if err != nil || n == 0 {
		return err
	}
	return st.recordStep()
}

// stepAct returns the timeline's name of the call.
func (res *providerResult) stepAct() schema.StepAct {
	return [...]schema.StepAct{callNone: schema.ActCallback, callDeposit: schema.ActDeposit, callEnquire: schema.ActEnquire, callResolve: schema.ActResolve}[res.call]
}

// stepAnswer returns the timeline's name of the answer, or of its absence.
func (res *providerResult) stepAnswer() schema.StepAnswer {
	if res.err != nil {
		return transaction.MissingAnswer(res.err)
	}
	return [...]schema.StepAnswer{
		schema.AnswerPending, schema.AnswerFound, schema.AnswerNotFound, schema.AnswerUnknown, schema.AnswerNotMade,
	}[res.Outcome]
}

// summaryOf returns the part of the timeline that the row of a verification holds. noted means
// that the timeline has stored steps.
func summaryOf(r *Record, noted bool) *transaction.Summary {
	o := &transaction.Summary{Created: r.CreatedAt, Sent: r.SentAt, Act: (&providerResult{call: firstCall(r)}).stepAct(), Finished: r.FinishedAt, Outcome: schema.AnswerSuccess}
	answer := schema.AnswerFound
	if r.State == schema.VerificationFailed {
		o.Outcome, answer = schema.AnswerFailed, schema.AnswerNotFound
	}
	// There is no answer in two cases. The calls of a retried row without steps are unknown, because
	// a version without timelines wrote it. A row that was given up has no outcome of the bank.
	if (noted || r.Tries == 0) && reached(r) {
		o.Answer = answer
	}
	return o
}
