package verify

import (
	"context"
	"errors"
	"time"

	"vayu/schema"
)

// transition is what a word makes of a verification that is pending.
type transition int

const (
	noop    transition = iota // it is left as it is
	retryLater                  // nothing final: look again later
	retryAsNew                   // nothing final, and certainly no deposit: ask for it later as if for the first time
	requeue                // the call was not made: make it soon
	resend                 // the deposit is asked for again under the same reference, now
	succeed                // pending -> success
	fail                   // pending -> failed
)

// decide is the one place that says what a bank's word means for a verification that
// is pending.
func decide(r *Record, w *providerResult, resendAfter time.Duration) transition {
	switch {
	case w.err != nil:
		return afterError(w)
	case w.Outcome == Found:
		return succeed
	case w.Outcome == NotFound:
		return fail
	case w.call == callNone: // it is looked at when it is due
		return noop
	case w.Outcome == NotMade:
		return retryAsNew
	case w.Outcome == Unknown && w.call == callEnquire && w.calledAt.Sub(r.SentAt) >= resendAfter:
		return resend
	}
	return retryLater
}

// afterError decides about a call without an answer. Only a deposit that was never
// calledAt for before, by a call that has not reached the bank, certainly was not made.
func afterError(w *providerResult) transition {
	switch {
	case w.notCalled():
		return requeue
	case w.call == callNone:
		return noop
	case w.call == callDeposit && !w.resent && errors.Is(w.err, ErrNotSent):
		return retryAsNew
	}
	return retryLater
}

// troubleOf is why there is no verdict yet; "" when the bank is only not done.
func troubleOf(w *providerResult) schema.Code {
	switch {
	case w.err == nil && w.Outcome == NotMade:
		return schema.BankNetworkError
	case w.err == nil || w.notCalled():
		return ""
	case errors.Is(w.err, context.DeadlineExceeded):
		return schema.BankTimeout
	}
	return schema.BankNetworkError
}

// giveUpCode is why a verification fails for which no bank had a verdict: what the last
// call says, or the one before when it was not made.
func giveUpCode(r *Record, w *providerResult) schema.Code {
	switch code := troubleOf(w); {
	case code != "":
		return code
	case !w.notCalled():
		return schema.BankTimeout
	case r.Trouble != "":
		return r.Trouble
	}
	return schema.BankNetworkError
}

// notFound is the failure of a method's account that does not exist.
func notFound(method schema.VerificationMethod) schema.Code {
	if method == schema.VerifyUPI {
		return schema.VPANotFound
	}
	return schema.AccountNotFound
}

// Pauses before the next look at a verification that is pending: somebody waits for
// it, and most banks that were slow have answered within a minute.
const (
	firstPause   = 5 * time.Second
	longestPause = 10 * time.Minute
	longestRetryAfter = time.Hour // that a bank can ask for
)

// backoff is the pause after so many looks without a final answer: 5, 10, 20, 40 s
// and so on to ten minutes.
func backoff(tries int) time.Duration {
	if tries > 7 { // 5 s << 7 is more than ten minutes
		return longestPause
	}
	return min(firstPause<<tries, longestPause)
}

// nextLook is when to look again after a word that is not final.
func nextLook(r *Record, w *providerResult, resendAfter time.Duration, now time.Time) time.Time {
	pause := now.Add(backoff(r.Tries))
	switch {
	case w.err == nil && w.Again > 0:
		return now.Add(min(w.Again, longestRetryAfter))
	case w.err == nil && w.Outcome == Unknown && w.call == callEnquire:
		if resendAt := r.SentAt.Add(resendAfter); resendAt.Before(pause) { // not later than it may be asked for again
			return resendAt
		}
	}
	return pause
}
