package record

import (
	"vayu/pipeline/transaction"
	"vayu/schema"
)

// These are the values of the column "detection".
const (
	SourceLookup = "lookup"
	SourceSeries = "series"
)

// Reply returns a recharge in the form that replies contain.
func Reply(r *Record) schema.Recharge {
	out := schema.Recharge{
		Status: r.State, TransactionID: r.ID, Operator: OperatorName(r), Circle: r.Circle, Amount: r.Amount, Message: message(r),
		RefID: r.RefID, Mobile: r.Number, Type: r.Type, BatchID: r.Batch.Batch,
		RefundID: r.RefundID, Reason: r.RefundReason, CreatedAt: schema.FormatTime(r.CreatedAt),
	}
	if r.Detection != "" {
		out.Detection = DetectionOf(r.Detection)
	}
	switch r.State {
	case schema.RechargeFailed:
		out.Error = failure(r)
		out.FailedAt = schema.FormatTime(r.FinishedAt)
	case schema.RechargeRefunded:
		out.RefundedAt = schema.FormatTime(r.RefundedAt)
		fallthrough
	case schema.RechargeSuccess:
		out.CompletedAt = schema.FormatTime(r.FinishedAt)
	case schema.RechargePending:
	}
	return out
}

// DetectionOf describes how the operator of a number was found, with the confidence. The confidence is low for a number
// series, which identifies the operator that first had the number: the number may have been ported since.
func DetectionOf(source string) *schema.Detection {
	confidence := "high"
	if source == SourceSeries {
		confidence = "low"
	}
	return &schema.Detection{Source: source, Confidence: confidence}
}

// message describes the state of a recharge for people.
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
		return subject + " was successful. Its refund is pending."
	default:
		return subject + " was successful."
	}
}

// Summary returns the steps that follow from the row of a recharge. `hasSteps` means that the table of steps has
// further steps of the recharge.
func Summary(r *Record, hasSteps bool) *transaction.Summary {
	o := &transaction.Summary{Created: r.CreatedAt, Sent: r.SentAt, Act: schema.ActSubmit, Finished: r.FinishedAt, Outcome: schema.AnswerSuccess, Refunded: r.RefundedAt}
	answer := schema.AnswerSucceeded
	if r.State == schema.RechargeFailed {
		o.Outcome, answer = schema.AnswerFailed, schema.AnswerFailed
	}
	// A recharge that an older version stored has no steps. If that version polled the recharge, the last answer is
	// unknown, and o.Answer stays empty.
	if r.Reference == r.ID && (hasSteps || r.Tries == 0) {
		o.Answer = answer
	}
	return o
}
