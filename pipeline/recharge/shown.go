package recharge

import (
	"time"

	"vayu/schema"
)

// shown is a recharge as replies show it.
func shown(r *Record) schema.Recharge {
	out := schema.Recharge{
		Status: r.State, TransactionID: r.ID, Operator: carrier(r), Circle: r.Circle, Amount: r.Amount, Message: message(r),
		RefID: r.RefID, Mobile: r.Number, Type: r.Type, BatchID: r.Batch.Batch,
		RefundID: r.RefundID, Reason: r.RefundReason, CreatedAt: instant(r.CreatedAt),
	}
	if r.Detection != "" {
		out.Detection = detectionOf(r.Detection)
	}
	switch r.State {
	case schema.RechargeFailed:
		out.Error = failure(r)
		out.FailedAt = instant(r.FinishedAt)
	case schema.RechargeRefunded:
		out.RefundedAt = instant(r.RefundedAt)
		fallthrough
	case schema.RechargeSuccess:
		out.CompletedAt = instant(r.FinishedAt)
	case schema.RechargePending:
	}
	return out
}

// carrier is the operator that carries a recharge out, and before that is known the
// one that was asked for.
func carrier(r *Record) string {
	switch {
	case r.Operator != "":
		return r.Operator
	case r.Asked != "":
		return r.Asked
	default:
		return auto
	}
}

// detectionOf says how sure a source of detection is. A series tells who the number
// was given to first; it may have been ported since.
func detectionOf(source string) *schema.Detection {
	confidence := "high"
	if source == sourceSeries {
		confidence = "low"
	}
	return &schema.Detection{Source: source, Confidence: confidence}
}

// message says for people how a recharge stands.
func message(r *Record) string {
	subject := "Recharge of " + r.Amount.Rupees() + " for " + r.Number
	switch {
	case r.Operator != "" && r.Circle != "":
		subject += " (" + r.Operator + ", " + r.Circle + ")"
	case r.Operator != "":
		subject += " (" + r.Operator + ")"
	}
	switch {
	case r.State == schema.RechargeFailed:
		return r.ErrorMessage
	case r.State == schema.RechargeRefunded:
		return subject + " was reversed, and its amount is back in the wallet."
	case r.State == schema.RechargePending:
		return subject + " is waiting for the operator's confirmation."
	case r.RefundID != "":
		return subject + " was successful; its refund is under way."
	default:
		return subject + " was successful."
	}
}

// instant is how moments are shown: RFC 3339 in UTC.
func instant(at time.Time) string { return at.UTC().Format(time.RFC3339) }
