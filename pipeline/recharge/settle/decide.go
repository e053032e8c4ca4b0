package settle

import (
	"errors"
	"time"

	"vayu/internal/workqueue"
	"vayu/pipeline/httpconnector"
	"vayu/pipeline/recharge/order"
	"vayu/pipeline/recharge/record"
	"vayu/schema"
)

// CallKind is the kind of a provider call.
type CallKind int

// These are the kinds of calls.
const (
	CallNone    CallKind = iota // no call: a callback, a file or a manual entry
	CallSubmit                  // order a recharge
	CallEnquire                 // status enquiry
	CallReverse                 // reverse a recharge
)

// String returns the name of the call in metrics and logs: none, submit, enquire or reverse.
func (c CallKind) String() string { return [...]string{"none", "submit", "enquire", "reverse"}[c] }

// Result is the result of a provider call, or of a callback, a file or a manual entry.
type Result struct {
	order.Answer

	Err       error // error of the call (then there is no Answer), or of the lookup after NotSubscriber
	Call      CallKind
	Resent    bool      // for submit and reverse: the reference may have been sent before
	Refused   bool      // for enquire: the last refund call was refused, but an earlier one may have succeeded
	Reference string    // reference of the order
	CalledAt  time.Time // start of the call; time of receipt for a result without a call
	// ResendAfter is the setting `resend-after` of the connection that was called; 0 for a result without a call.
	ResendAfter time.Duration
	By          string   // source, for the audit log
	Reroute     *Reroute // the other operator, if the number belongs to one
}

// Reroute is the operator to which a number belongs according to a new lookup.
type Reroute struct {
	*order.Connection

	Subscriber order.Subscriber
	Lease      workqueue.Lease // lease for a slot of the connection; zero if the order is queued
}

// Transition is the effect of a provider result on a recharge.
type Transition int

// These are the transitions of a recharge.
const (
	Noop          Transition = iota // nothing new
	RetryLater                      // not final: poll again later
	Succeed                         // pending -> success
	Fail                            // pending -> failed
	Redirect                        // pending, continued with the operator that has the number
	Resend                          // pending, sent again under the same reference
	Refund                          // success -> refunded
	RefuseRefund                    // success: the provider refuses the requested refund
	ConfirmRefund                   // success: refund refused; enquire whether an earlier call granted it
	RetryRefund                     // success: request the refund again
	LateSuccess                     // alarm: a failed recharge, or a replaced or unsent order, was carried out
	LateFailure                     // alarm: a charged recharge was not carried out
)

var transitions = map[schema.RechargeState][order.Reversed + 1]Transition{
	schema.RechargePending: {
		order.Pending: RetryLater, order.Succeeded: Succeed, order.Failed: Fail, order.NotSubscriber: Redirect, order.Unknown: Resend,
		order.Reversed: Fail, // nothing was charged yet
	},
	schema.RechargeSuccess: {
		order.Pending: Noop, order.Succeeded: Noop, order.Failed: LateFailure, order.NotSubscriber: LateFailure, order.Unknown: Noop, order.Reversed: Refund,
	},
	// A failed recharge charged nothing, so a reversal agrees with it.
	schema.RechargeFailed: {
		order.Pending: Noop, order.Succeeded: LateSuccess, order.Failed: Noop, order.NotSubscriber: Noop, order.Unknown: Noop, order.Reversed: Noop,
	},
	// No result changes a refunded recharge. A success may be a late or repeated answer from before the reversal.
	// If the provider did not reverse the order after all, only package reconcile finds that.
	schema.RechargeRefunded: {
		order.Pending: Noop, order.Succeeded: Noop, order.Failed: Noop, order.NotSubscriber: Noop, order.Unknown: Noop, order.Reversed: Noop,
	},
}

// decide returns the transition for a result of the recharge's current order.
func decide(r *record.Record, res *Result) Transition {
	switch {
	case res.Err != nil:
		return afterError(r, res)
	case res.Call == CallReverse && r.State == schema.RechargeSuccess:
		return afterReverse(res)
	case res.Call == CallEnquire && r.State == schema.RechargeSuccess && r.RefundID != "":
		return afterRefundEnquiry(res)
	}
	v := transitions[r.State][res.Outcome]
	switch {
	case v == Redirect && res.Reroute == nil:
		return Fail
	case v == Resend && res.Call == CallEnquire && res.CalledAt.Sub(r.SentAt) < res.ResendAfter, v == Resend && res.Call == CallSubmit:
		return RetryLater
	case (v == Resend || v == RetryLater) && res.Call == CallNone: // the next poll handles it
		return Noop
	}
	return v
}

// afterError returns the transition after a failed call or lookup. A pending order fails only after a submit call that
// sent nothing, if no earlier call may have sent it. If the circuit breaker prevented the call, the order is retried.
func afterError(r *record.Record, res *Result) Transition {
	switch {
	case r.State == schema.RechargePending && res.Call == CallSubmit && !res.Resent && errors.Is(res.Err, httpconnector.ErrNotSent) && !res.notCalled():
		return Fail
	case r.State == schema.RechargeRefunded, res.Call == CallNone: // the next poll handles it
		return Noop
	}
	return RetryLater
}

// notCalled reports whether the provider's circuit breaker prevented the call.
func (res *Result) notCalled() bool { return errors.Is(res.Err, httpconnector.ErrNotCalled) }

// afterReverse returns the transition after a refund call. If a repeated call is refused, an enquiry follows, because
// an earlier call may have succeeded although its answer was lost.
func afterReverse(res *Result) Transition {
	switch {
	case res.Outcome == order.Reversed:
		return Refund
	case res.Outcome != order.Failed && res.Outcome != order.NotSubscriber:
		return RetryLater
	case res.Resent:
		return ConfirmRefund
	default:
		return RefuseRefund
	}
}

// afterRefundEnquiry returns the transition after an enquiry that follows a refund call. If the order is still
// successful, the provider has not granted the refund. Then a refusal of the refund call is final. Without a
// refusal, the refund is requested again.
func afterRefundEnquiry(res *Result) Transition {
	switch {
	case res.Outcome == order.Pending || res.Outcome == order.Unknown:
		return RetryLater
	case res.Outcome != order.Succeeded:
		return transitions[schema.RechargeSuccess][res.Outcome]
	case res.Refused:
		return RefuseRefund
	default:
		return RetryRefund
	}
}

// failureOf returns the error code of a failed recharge. For NotSubscriber it is invalid_number. For Failed it is the
// code of the answer, if there is a text for that code. In all other cases it is operator_network_error.
func failureOf(res *Result) schema.Code {
	switch {
	case res.Err != nil || res.Outcome == order.Reversed:
		return schema.OperatorNetworkError
	case res.Outcome == order.NotSubscriber:
		return schema.InvalidNumber
	case record.FailureText(res.Code) == "":
		return schema.OperatorNetworkError
	}
	return res.Code
}
