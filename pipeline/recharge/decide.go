package recharge

import (
	"errors"
	"time"

	"vayu/internal/workqueue"
	"vayu/pipeline/httpconnector"
	"vayu/schema"
)

// call is the kind of a provider call.
type call int

const (
	callNone    call = iota // no call: a callback, a file or a manual entry
	callSubmit              // order a recharge
	callEnquire             // status enquiry
	callReverse             // reverse a recharge
)

// String returns the name in metrics and logs.
func (c call) String() string { return [...]string{"none", "submit", "enquire", "reverse"}[c] }

// String returns the name in logs and in the audit log.
func (o Outcome) String() string {
	if o < Pending || o > Reversed {
		return "unknown outcome"
	}
	return [...]string{"pending", "succeeded", "failed", "not_subscriber", "unknown", "reversed"}[o]
}

// providerResult is the result of a provider call, or of a callback, a file or a manual
// entry.
type providerResult struct {
	Answer

	err       error // error of the call; then there is no Answer
	call      call
	resent    bool      // of submit and reverse: the reference may have been sent before
	refused   bool      // of enquire: it follows a refused refund call, but an earlier refund call may have succeeded
	reference string    // of the order
	calledAt  time.Time // start of the call
	by        string    // source, for the audit log
	reroute   *reroute  // the other operator, if the number belongs to one
}

// reroute is the operator that a number turned out to belong to.
type reroute struct {
	*connection

	subscriber Subscriber
	lease      workqueue.Lease // of a slot of the connection; zero if the order is queued
}

// transition is the effect of a provider result on a recharge.
type transition int

const (
	noop          transition = iota // nothing new
	retryLater                      // not final: poll again later
	succeed                         // pending -> success
	fail                            // pending -> failed
	redirect                        // pending, continued with the operator that has the number
	resend                          // pending, sent again under the same reference
	refund                          // success -> refunded
	refuseRefund                    // success: the provider refuses the requested refund
	confirmRefund                   // success: refund refused; enquire whether an earlier call granted it
	retryRefund                     // success: request the refund again
	lateSuccess                     // alarm: a failed recharge was carried out
	lateFailure                     // alarm: a charged recharge was not carried out
)

// transitions maps each state and outcome to its transition.
var transitions = map[schema.RechargeState][Reversed + 1]transition{
	schema.RechargePending: {
		Pending: retryLater, Succeeded: succeed, Failed: fail, NotSubscriber: redirect, Unknown: resend,
		Reversed: fail, // nothing was charged yet
	},
	schema.RechargeSuccess: {
		Pending: noop, Succeeded: noop, Failed: lateFailure, NotSubscriber: lateFailure, Unknown: noop, Reversed: refund,
	},
	// A failed recharge charged nothing, so a reversal agrees with it.
	schema.RechargeFailed: {
		Pending: noop, Succeeded: lateSuccess, Failed: noop, NotSubscriber: noop, Unknown: noop, Reversed: noop,
	},
	// A refunded recharge charges nothing, so a late or repeated success is ignored.
	// Reconciliation finds a missing reversal in the provider's file.
	schema.RechargeRefunded: {
		Pending: noop, Succeeded: noop, Failed: noop, NotSubscriber: noop, Unknown: noop, Reversed: noop,
	},
}

// decide returns the transition for a result. All rules about results are here.
func decide(r *Record, res *providerResult, resendAfter time.Duration) transition {
	switch {
	case res.err != nil:
		return afterError(r, res)
	case res.call == callReverse && r.State == schema.RechargeSuccess:
		return afterReverse(res)
	case res.call == callEnquire && r.State == schema.RechargeSuccess && r.RefundID != "":
		return afterRefundEnquiry(res)
	}
	v := transitions[r.State][res.Outcome]
	switch {
	case v == redirect && res.reroute == nil:
		return fail
	case v == resend && res.call == callEnquire && res.calledAt.Sub(r.SentAt) < resendAfter, v == resend && res.call == callSubmit:
		return retryLater
	case (v == resend || v == retryLater) && res.call == callNone: // the next poll handles it
		return noop
	}
	return v
}

// afterError decides about a failed call. A pending order fails only if it certainly was
// never sent. If it was sent before, the earlier request may still arrive.
func afterError(r *Record, res *providerResult) transition {
	switch {
	case r.State == schema.RechargePending && res.call == callSubmit && !res.resent && errors.Is(res.err, httpconnector.ErrNotSent) && !res.notCalled():
		return fail
	case r.State == schema.RechargeRefunded, res.call == callNone: // the next poll handles it
		return noop
	}
	return retryLater
}

// notCalled reports whether the call was postponed, for example by a circuit breaker.
func (res *providerResult) notCalled() bool { return errors.Is(res.err, httpconnector.ErrNotCalled) }

// afterReverse decides about a refund call. The provider may refuse a repeated call because
// an earlier one succeeded and only its answer was lost.
func afterReverse(res *providerResult) transition {
	switch {
	case res.Outcome == Reversed:
		return refund
	case res.Outcome != Failed && res.Outcome != NotSubscriber:
		return retryLater
	case res.resent:
		return confirmRefund
	default:
		return refuseRefund
	}
}

// afterRefundEnquiry decides about an enquiry after a refund call. If the provider still
// reports success, the refund was not granted. Then an earlier refusal is final; without one
// the refund is requested again.
func afterRefundEnquiry(res *providerResult) transition {
	switch {
	case res.Outcome == Pending || res.Outcome == Unknown:
		return retryLater
	case res.Outcome != Succeeded:
		return transitions[schema.RechargeSuccess][res.Outcome]
	case res.refused:
		return refuseRefund
	default:
		return retryRefund
	}
}

// secondOrder is the suffix of the reference of an order that replaced another one.
const secondOrder = "-2"

// redetects reports whether a lookup for another operator is allowed: once, and only if
// the client named none.
func (r *Record) redetects() bool {
	return r.State == schema.RechargePending && r.RequestedOperator == "" && r.Reference == r.ID && r.Type == schema.Prepaid
}

// nextPollTime returns the time of the next poll after a result that is not final.
func nextPollTime(r *Record, res *providerResult, resendAfter time.Duration, now time.Time) time.Time {
	if res.err != nil {
		return r.NextCall(0, false, 0, now)
	}
	unknown := res.Outcome == Unknown && res.call == callEnquire && r.State == schema.RechargePending
	return r.NextCall(res.RetryAfter, unknown, resendAfter, now)
}

// nextEnquiry returns the time for which the provider requested another enquiry after a final
// outcome; zero for none.
func (res *providerResult) nextEnquiry(now time.Time) time.Time {
	if res.err != nil || res.RetryAfter <= 0 {
		return time.Time{}
	}
	return now.Add(res.RetryAfter)
}
