package recharge

import (
	"errors"
	"time"

	"vayu/pipeline/upstream"
	"vayu/schema"
)

// call is what a provider was asked.
type call int

const (
	told    call = iota // nothing: he speaks by himself
	submit              // to carry out an order
	enquire             // what has become of one
	reverse             // to take one back
)

// String is what metrics and logs call it.
func (c call) String() string { return [...]string{"told", "submit", "enquire", "reverse"}[c] }

// String is what logs and the audit log call it.
func (o Outcome) String() string {
	if o < Pending || o > Reversed {
		return "unknown outcome"
	}
	return [...]string{"pending", "succeeded", "failed", "not_subscriber", "unknown", "reversed"}[o]
}

// word is what is known after a call, or without one.
type word struct {
	Answer

	err       error // of the call: then there is no answer
	call      call
	resent    bool      // of submit and reverse: it may have been said before under this reference
	refused   bool      // of enquire: it follows a refund that was refused, which may be one that was granted before
	reference string    // of the order that it is about
	asked     time.Time // when the call began
	by        string    // who says so, for the audit log
	onto      *onto     // where a recharge goes on whose operator was not the right one
}

// onto is the operator that a number turned out to belong to.
type onto struct {
	*line

	subscriber Subscriber
	lease      upstream.Lease // of a slot there; none: it waits in the store
}

// verdict is what a word makes of a recharge.
type verdict int

const (
	rest        verdict = iota // nothing new: it is left as it is
	again                      // nothing final: look again later
	succeed                    // pending -> success
	fail                       // pending -> failed
	redirect                   // pending, with the operator that the number belongs to
	resend                     // pending: sent again under the same reference
	refund                     // success -> refunded
	refuse                     // success: the refund that was asked for is not to be had
	doubt                      // success: the refund is refused, and it is asked whether it was granted before
	retell                     // success: the refund is asked for once more
	lateSuccess                // alarm: it has failed, and was carried out
	lateFailure                // alarm: it was charged, and not carried out
)

// verdicts are the meaning of every outcome in every state.
var verdicts = map[schema.RechargeState][Reversed + 1]verdict{
	schema.RechargePending: {
		Pending: again, Succeeded: succeed, Failed: fail, NotSubscriber: redirect, Unknown: resend,
		Reversed: fail, // nothing has been charged yet
	},
	schema.RechargeSuccess: {
		Pending: rest, Succeeded: rest, Failed: lateFailure, NotSubscriber: lateFailure, Unknown: rest, Reversed: refund,
	},
	// What has failed has charged nobody, so that a reversal agrees with it.
	schema.RechargeFailed: {
		Pending: rest, Succeeded: lateSuccess, Failed: rest, NotSubscriber: rest, Unknown: rest, Reversed: rest,
	},
	// What is refunded has charged nobody either. That it was carried out is true and
	// may be said late, or again; who has not taken it back shows so in his file.
	schema.RechargeRefunded: {
		Pending: rest, Succeeded: rest, Failed: rest, NotSubscriber: rest, Unknown: rest, Reversed: rest,
	},
}

// decide is the one place that says what a provider's word means for a recharge as
// it stands.
func decide(r *Record, w *word, resendAfter time.Duration) verdict {
	switch {
	case w.err != nil:
		return afterError(r, w)
	case w.call == reverse && r.State == schema.RechargeSuccess:
		return afterReverse(w)
	case w.call == enquire && r.State == schema.RechargeSuccess && r.RefundID != "":
		return afterDoubt(w)
	}
	v := verdicts[r.State][w.Outcome]
	switch {
	case v == redirect && w.onto == nil:
		return fail
	case v == resend && w.call == enquire && w.asked.Sub(r.SentAt) < resendAfter, v == resend && w.call == submit:
		return again
	case (v == resend || v == again) && w.call == told: // it is looked at when it is due
		return rest
	}
	return v
}

// afterError decides about a call without an answer. Only an order that certainly
// was never sent has failed: when one is sent again, the sending before may still be
// on its way.
func afterError(r *Record, w *word) verdict {
	switch {
	case r.State == schema.RechargePending && w.call == submit && !w.resent && errors.Is(w.err, ErrNotSent) && !w.notAsked():
		return fail
	case r.State == schema.RechargeRefunded, w.call == told: // it is looked at when it is due
		return rest
	}
	return again
}

// notAsked reports whether a call was put off, and not made.
func (w *word) notAsked() bool { return errors.Is(w.err, ErrNotAsked) }

// afterReverse decides about a refund that was asked for. Who refuses one may have
// granted it before, by an answer that was lost.
func afterReverse(w *word) verdict {
	switch {
	case w.Outcome == Reversed:
		return refund
	case w.Outcome != Failed && w.Outcome != NotSubscriber:
		return again
	case w.resent:
		return doubt
	default:
		return refuse
	}
}

// afterDoubt decides about a refund that is wanted, once it was asked whether the
// recharge stands: only of one that does a refusal is believed, or a refund asked for.
func afterDoubt(w *word) verdict {
	switch {
	case w.Outcome == Pending || w.Outcome == Unknown:
		return again
	case w.Outcome != Succeeded:
		return verdicts[schema.RechargeSuccess][w.Outcome]
	case w.refused:
		return refuse
	default:
		return retell
	}
}

// secondOrder ends the reference of an order that has taken the place of another.
const secondOrder = "-2"

// redetects reports whether another operator may be looked for: once, and only when
// the client has not named one.
func (r *Record) redetects() bool {
	return r.State == schema.RechargePending && r.Asked == "" && r.Reference == r.ID && r.Type == schema.Prepaid
}

// Pauses before the next look at a recharge that is pending (CONTRACT 4).
const (
	firstPause   = 5 * time.Second
	longestPause = 10 * time.Minute
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
func nextLook(r *Record, w *word, resendAfter time.Duration, now time.Time) time.Time {
	switch {
	case w.err == nil && w.Again > 0:
		return now.Add(w.Again)
	case w.err == nil && w.Outcome == Unknown && w.call == enquire && r.State == schema.RechargePending:
		// Not later than it may be sent again.
		if resendAt := r.SentAt.Add(resendAfter); resendAt.Before(now.Add(backoff(r.Tries))) {
			return resendAt
		}
	}
	return now.Add(backoff(r.Tries))
}

// after is when a recharge with a final outcome is looked at again: zero for never,
// unless the provider asks for it.
func (w *word) after(now time.Time) time.Time {
	if w.err != nil || w.Again <= 0 {
		return time.Time{}
	}
	return now.Add(w.Again)
}
