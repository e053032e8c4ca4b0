package reconcile

import (
	"time"

	"vayu/schema"
)

// Kind is a way in which a file and the store differ.
type Kind string

// The kinds, in the order in which they are told.
const (
	SettleSuccess Kind = "settle_success"
	SettleFailed  Kind = "settle_failed"
	Refund        Kind = "refund"
	Suspense      Kind = "suspense"
	Suspended     Kind = "suspended"
	Claim         Kind = "claim"
	Absent        Kind = "absent"
	AmountDiffers Kind = "amount"
	Twice         Kind = "twice"
	RefundedHere  Kind = "refunded_here"
	OpenThere     Kind = "open_there"
	SuspenseBack  Kind = "suspense_back"
	Earlier       Kind = "earlier"
	OtherProvider Kind = "other_provider"
	NotOurs       Kind = "not_ours"
	Unreadable    Kind = "unreadable"
)

// About is what people are told of a kind.
type About struct {
	Kind   Kind
	What   string // it is
	Action string // is proposed
	// Automatic is that the action can be carried out by [Comparison.Run].
	Automatic bool
}

// Kinds is every kind.
var Kinds = []About{
	{SettleSuccess, "success there, pending here", "settle as success: the account is charged", true},
	{SettleFailed, "failed there, pending here", "settle as failed: the amount goes back to the account", true},
	{Refund, "refunded there, success here", "refund: the amount goes back to the account", true},
	{Suspense, "success there, failed here", "book to suspense and raise an alarm; then claim it back, or charge the account by agreement", true},
	{Suspended, "success there, failed here, known already", "claim it back, or charge the account by agreement; then vayu reconcile resolve", false},
	{Claim, "failed there, success here", "ask the operator: the account was charged", false},
	{Absent, "not in the file, success or pending here", "ask the operator", false},
	{AmountDiffers, "another amount there", "ask the operator which amount was carried out", false},
	{Twice, "more than once in the file", "ask the operator: it may be charged twice", false},
	{RefundedHere, "success there, refunded here", "look for the reversal in a later file; else claim it", false},
	{OpenThere, "pending there, final here", "look for it in the next file", false},
	{SuspenseBack, "not charged there, in suspense here", "the claim is settled: vayu reconcile resolve", false},
	{Earlier, "carried out there under an id that has failed here", "claim it: the recharge went on under another id", false},
	{OtherProvider, "given to another provider here", "look whether --provider and the file belong together; else ask the operator", false},
	{NotOurs, "a reference that nobody has here", "ask the operator whose it is", false},
	{Unreadable, "cannot be read", "look at the line, and at what is said of it here", false},
}

// Of is what people are told of a kind.
func (k Kind) Of() About {
	for _, a := range Kinds {
		if a.Kind == k {
			return a
		}
	}
	return About{Kind: k}
}

// Alarms of recharges whose outcome was contradicted.
const (
	// LateSuccess is that the provider has carried out what had failed. When that was
	// the recharge as it stands, its amount is in suspense.
	LateSuccess = "late_success"
	// LateFailure is that the provider has not carried out what was charged, or has
	// not taken back what was refunded.
	LateFailure = "late_failure"
)

// explained reports whether a person has resolved the alarm that a difference of a
// kind is about. Where a second order has failed too, nothing says of which of both
// the alarm is: it is told again, because money may have gone twice.
func (r *Record) explained(k Kind) bool {
	if r.ResolvedAt.IsZero() {
		return false
	}
	switch k {
	case Suspended, SuspenseBack:
		return r.Alarm == LateSuccess && r.Reference == r.ID
	case Earlier:
		return r.Alarm == LateSuccess && r.State != schema.RechargeFailed
	case Claim, Absent:
		return r.Alarm == LateFailure
	case RefundedHere:
		return r.Alarm == LateFailure && !r.RefundedAt.After(r.ResolvedAt)
	default:
		return false
	}
}

// judge says how a line and the recharge that it is about differ, "" when they do
// not. A refund from until on is not yet known to the file; the zero time is never.
func judge(l *Line, r *Record, until time.Time) Kind {
	if l.Amount != r.Amount {
		return AmountDiffers
	}
	switch r.State {
	case schema.RechargePending:
		switch l.Status {
		case Success:
			return SettleSuccess
		case Failed, Refunded: // one that was taken back before it was known to be done is not charged either
			return SettleFailed
		case Pending:
		}
		return ""
	case schema.RechargeSuccess:
		return map[Status]Kind{Failed: Claim, Pending: OpenThere, Refunded: Refund}[l.Status]
	case schema.RechargeRefunded:
		switch {
		case l.Status == Pending:
			return OpenThere
		case l.Status == Success && (until.IsZero() || r.RefundedAt.Before(until)):
			return RefundedHere
		}
		return ""
	}
	return judgeFailed(l, r)
}

func judgeFailed(l *Line, r *Record) Kind {
	suspended := r.Alarm == LateSuccess
	switch {
	case l.Status == Success && suspended:
		return Suspended
	case l.Status == Success:
		return Suspense
	case l.Status == Pending:
		return OpenThere
	case suspended:
		return SuspenseBack
	}
	return ""
}

// judgeStranger says what a line is whose reference nobody has with this provider;
// r is the recharge of its id, nil when there is none.
func judgeStranger(l *Line, r *Record) Kind {
	switch {
	case r == nil:
		return NotOurs
	case r.Reference == l.Reference:
		return OtherProvider
	case l.Status == Success || l.Status == Pending:
		return Earlier
	}
	return "" // it failed, and the recharge went on under another id
}
