package verify

import (
	"context"
	"errors"
	"time"

	"vayu/internal/sqlstore"
	"vayu/pipeline/httpconnector"
	"vayu/pipeline/transaction"
	"vayu/pipeline/verify/bank"
	"vayu/schema"
)

// transition is the change that a provider result causes in a pending verification.
type transition int

const (
	noop       transition = iota // no change
	retryLater                   // no final outcome: try again later
	retryAsNew                   // no final outcome and certainly no deposit: later send the order as if for the first time
	requeue                      // the call was not made: make the call soon
	resend                       // send the deposit again under the same reference, now
	succeed                      // pending -> success
	fail                         // pending -> failed
)

// decide maps a provider result to the transition of a pending verification. If [transitionTx.apply] gives up
// the verification, it replaces retryLater, retryAsNew and requeue by fail.
func decide(r *Record, res *providerResult, resendAfter time.Duration) transition {
	switch {
	case res.err != nil:
		return afterError(res)
	case res.Outcome == bank.Found:
		return succeed
	case res.Outcome == bank.NotFound:
		return fail
	case res.call == callNone: // a callback without an outcome: the next call stays scheduled
		return noop
	case res.Outcome == bank.NotMade:
		return retryAsNew
	case res.Outcome == bank.Unknown && res.call == callEnquire && res.calledAt.Sub(r.SentAt) >= resendAfter:
		return resend
	}
	return retryLater
}

// afterError returns the transition after a call that ended with an error. If the first deposit call did not reach the
// bank, there is certainly no deposit, so the order is later sent as new.
func afterError(res *providerResult) transition {
	switch {
	case res.notCalled():
		return requeue
	case res.call == callNone:
		return noop
	case res.call == callDeposit && !res.resent && errors.Is(res.err, httpconnector.ErrNotSent):
		return retryAsNew
	}
	return retryLater
}

// troubleOf returns the error code of a failed call or of the outcome bank.NotMade, to explain the delay; otherwise "".
func troubleOf(res *providerResult) schema.Code {
	switch {
	case res.err == nil && res.Outcome == bank.NotMade:
		return schema.BankNetworkError
	case res.err == nil || res.notCalled():
		return ""
	case errors.Is(res.err, context.DeadlineExceeded):
		return schema.BankTimeout
	}
	return schema.BankNetworkError
}

// giveUpCode returns the error code of a verification that ends without an outcome.
func giveUpCode(r *Record, res *providerResult) schema.Code {
	switch code := troubleOf(res); {
	case code != "":
		return code
	case !res.notCalled():
		return schema.BankTimeout
	case r.DelayCode != "":
		return r.DelayCode
	}
	return schema.BankNetworkError
}

// notFound returns the error code for an account or address that does not exist.
func notFound(method schema.VerificationMethod) schema.Code {
	if method == schema.VerifyUPI {
		return schema.VPANotFound
	}
	return schema.AccountNotFound
}

// longestRetryAfter is the upper bound of Answer.RetryAfter.
const longestRetryAfter = time.Hour

// nextLook returns the time of the next call after a result that is not final.
func nextLook(r *Record, res *providerResult, resendAfter time.Duration, now time.Time) time.Time {
	if res.err != nil {
		return r.NextCall(0, false, 0, now)
	}
	return r.NextCall(min(res.RetryAfter, longestRetryAfter), res.Outcome == bank.Unknown && res.call == callEnquire, resendAfter, now)
}

// recordStep stores the call and the kind of its answer as a step of the timeline.
func (st *transitionTx) recordStep() error {
	_, err := transaction.RecordStep(st.tx, st.out.ID, st.result.stepAct(), st.result.stepAnswer(), sqlstore.TruncateMicros(st.now))
	return err
}

// recordFinalStep records the step that ends a verification. If its first call ends the verification, there is no
// step, because the row has the answer. If the clock of another instance was ahead, the previous step may have a later
// time than r.FinishedAt. Then the verification ends at that later time.
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
	// The update locks the row, so that no other transaction writes steps at the same time.
	n, err := st.tx.Exec("UPDATE verification SET tries = tries WHERE id = $1 AND state = 'pending'", st.out.ID)
	if err != nil || n == 0 {
		return err
	}
	return st.recordStep()
}

// stepAct returns the act that the timeline shows for the call.
func (res *providerResult) stepAct() schema.StepAct {
	return [...]schema.StepAct{callNone: schema.ActCallback, callDeposit: schema.ActDeposit, callEnquire: schema.ActEnquire, callResolve: schema.ActResolve}[res.call]
}

// stepAnswer returns the answer that the timeline shows; for a failed call, the kind of failure.
func (res *providerResult) stepAnswer() schema.StepAnswer {
	if res.err != nil {
		return transaction.MissingAnswer(res.err)
	}
	return [...]schema.StepAnswer{
		schema.AnswerPending, schema.AnswerFound, schema.AnswerNotFound, schema.AnswerUnknown, schema.AnswerNotMade,
	}[res.Outcome]
}

// summaryOf returns the part of the timeline that the row of a verification holds. `noted` means that the table of
// steps has further steps of the verification.
func summaryOf(r *Record, noted bool) *transaction.Summary {
	o := &transaction.Summary{Created: r.CreatedAt, Sent: r.SentAt, Act: (&providerResult{call: firstCall(r)}).stepAct(), Finished: r.FinishedAt, Outcome: schema.AnswerSuccess}
	answer := schema.AnswerFound
	if r.State == schema.VerificationFailed {
		o.Outcome, answer = schema.AnswerFailed, schema.AnswerNotFound
	}
	// o.Answer stays empty in two cases. An older version without timelines wrote a retried row without steps, so its
	// last answer is unknown. A verification that was given up has no outcome of the bank.
	if (noted || r.Tries == 0) && reached(r) {
		o.Answer = answer
	}
	return o
}
