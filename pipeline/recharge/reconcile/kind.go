package reconcile

import (
	"time"

	"vayu/pipeline/recharge/record"
	"vayu/pipeline/recharge/settle"
	"vayu/schema"
)

// Kind is a kind of difference between an operator's file and the store.
type Kind string

// These are the kinds of differences, in the order in which reports list them.
const (
	SettleSuccess Kind = "settle_success"
	SettleFailed  Kind = "settle_failed"
	Refund        Kind = "refund"
	Suspense      Kind = "suspense"
	Suspended     Kind = "suspended"
	Claim         Kind = "claim"
	Absent        Kind = "absent"
	AmountDiffers Kind = "amount"
	Duplicate     Kind = "twice"
	RefundedHere  Kind = "refunded_here"
	OpenThere     Kind = "open_there"
	SuspenseBack  Kind = "suspense_back"
	Earlier       Kind = "earlier"
	OtherProvider Kind = "other_provider"
	NotOurs       Kind = "not_ours"
	Unreadable    Kind = "unreadable"
)

// KindInfo describes a kind of difference to people.
type KindInfo struct {
	Kind   Kind
	What   string // description
	Action string // proposed action
	// Automatic means that [Comparison.Run] can carry out the action for this kind of difference.
	Automatic bool
}

// Kinds lists every kind of difference between an operator's file and the store.
var Kinds = []KindInfo{
	{SettleSuccess, "success there, pending here", "settle as success: the account is charged", true},
	{SettleFailed, "failed there, pending here", "settle as failed: the amount goes back to the account", true},
	{Refund, "refunded there, success here", "refund: the amount goes back to the account", true},
	{Suspense, "success there, failed here", "book to suspense and raise an alarm; then claim it back, or charge the account by agreement", true},
	{Suspended, "success there, failed here, known already", "claim it back, or charge the account by agreement; then vayu reconcile resolve", false},
	{Claim, "failed there, success here", "ask the operator: the account was charged", false},
	{Absent, "not in the file, success or pending here", "ask the operator", false},
	{AmountDiffers, "another amount there", "ask the operator which amount was carried out", false},
	{Duplicate, "more than once in the file", "ask the operator: it may be charged twice", false},
	{RefundedHere, "success there, refunded here", "look for the reversal in a later file; else claim it", false},
	{OpenThere, "pending there, final here", "look for it in the next file", false},
	{SuspenseBack, "not charged there, in suspense here", "the claim is settled: vayu reconcile resolve", false},
	{Earlier, "carried out there under an id that has failed here", "claim it: the recharge went on under another id", false},
	{OtherProvider, "submitted to another provider", "look whether --provider and the file belong together; else ask the operator", false},
	{NotOurs, "a reference that no account has", "ask the operator which order it is", false},
	{Unreadable, "cannot be read", "look at the line and its fault", false},
}

// Info returns the entry of k in Kinds.
func (k Kind) Info() KindInfo {
	for _, a := range Kinds {
		if a.Kind == k {
			return a
		}
	}
	return KindInfo{Kind: k}
}

// isResolved reports whether a person has resolved the alarm for a difference of kind k. A recharge that continued with
// another operator has two orders, but only one late-success alarm. If such a recharge has failed, isResolved returns
// false: both orders may have been carried out, and the resolved alarm may be about only one of them.
func isResolved(r *record.Record, k Kind) bool {
	if r.ResolvedAt.IsZero() {
		return false
	}
	switch k {
	case Suspended, SuspenseBack:
		return r.Alarm == settle.AlarmLateSuccess && r.Reference == r.ID
	case Earlier:
		return r.Alarm == settle.AlarmLateSuccess && r.State != schema.RechargeFailed
	case Claim, Absent:
		return r.Alarm == settle.AlarmLateFailure
	case RefundedHere:
		return r.Alarm == settle.AlarmLateFailure && !r.RefundedAt.After(r.ResolvedAt)
	default:
		return false
	}
}

// classifyLine returns how a line and its recharge differ; "" if they agree. The file has only refunds that were made
// before `until`. If `until` is zero, the file has all refunds.
func classifyLine(l *Line, r *record.Record, until time.Time) Kind {
	if l.Amount != r.Amount {
		return AmountDiffers
	}
	switch r.State {
	case schema.RechargePending:
		switch l.Status {
		case Success:
			return SettleSuccess
		case Failed, Refunded: // a success that was reversed before its settlement here is not charged
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
	return classifyFailed(l, r)
}

func classifyFailed(l *Line, r *record.Record) Kind {
	suspended := r.Alarm == settle.AlarmLateSuccess
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

// classifyUnmatched classifies a line if no recharge at this provider has the line's reference now. The reference of an
// order begins with the id of its recharge. r is the recharge of this world with that id; nil if there is none.
func classifyUnmatched(l *Line, r *record.Record) Kind {
	switch {
	case r == nil:
		return NotOurs
	case r.Reference == l.Reference:
		return OtherProvider
	case l.Status == Success || l.Status == Pending:
		return Earlier
	}
	return "" // this order was not charged, and the recharge continued under another reference
}
