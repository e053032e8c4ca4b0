package verify

import (
	"context"
	"errors"
	"time"

	"vayu/pipeline/httpconnector"
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

// decide maps a provider result to the transition of a pending verification. [transitionTx.apply]
// replaces retryLater, retryAsNew and requeue by fail when it gives up the verification.
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

// afterError decides about a call that ended with an error. The bank has certainly made no deposit
// if the first deposit call did not reach the bank.
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

// troubleOf returns why the outcome is delayed; "" without a failure, or if no call was made.
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
