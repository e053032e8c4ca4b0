package record

import (
	"fmt"

	"vayu/internal/sqlstore"
	"vayu/pipeline/recharge/request"
	"vayu/pipeline/transaction"
	"vayu/schema"
)

// AppendEvent stores the event of the recharge's state, in the transaction that changes the state.
func AppendEvent(tx *sqlstore.Tx, events transaction.Events, r *Record) error {
	typ, data := eventOf(r)
	if _, err := events.Append(tx, r.Owner.Account, r.Owner.World, typ, data); err != nil {
		return fmt.Errorf("storing the event of %s: %w", r.ID, err)
	}
	return nil
}

// eventOf returns the event of a recharge's state. Its number is masked, because events are stored and pass through
// Kafka. A delivery has the unmasked number if its subscription requests that.
func eventOf(r *Record) (schema.EventType, *schema.RechargeEvent) {
	e := &schema.RechargeEvent{
		TransactionID: r.ID, Mobile: schema.MaskNumber(r.Number), Operator: OperatorName(r), Circle: r.Circle, Amount: r.Amount, Type: r.Type, Status: r.State, RefID: r.RefID,
		BatchID: r.Batch.Batch,
	}
	switch r.State {
	case schema.RechargeSuccess:
		e.CompletedAt = schema.FormatTime(r.FinishedAt)
		return schema.EventRechargeCompleted, e
	case schema.RechargeFailed:
		charged := false
		e.Charged, e.Error, e.FailedAt = &charged, failure(r), schema.FormatTime(r.FinishedAt)
		return schema.EventRechargeFailed, e
	case schema.RechargeRefunded:
		e.RefundID, e.Reason, e.RefundedAt = r.RefundID, r.RefundReason, schema.FormatTime(r.RefundedAt)
		return schema.EventRechargeRefunded, e
	default:
		e.CreatedAt = schema.FormatTime(r.CreatedAt)
		return schema.EventRechargePending, e
	}
}

// Values of the column "detection".
const (
	SourceLookup = "lookup"
	SourceSeries = "series"
)

// Reply returns a recharge as replies show it.
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

// OperatorName returns the operator that carries out a recharge. If it is unknown, it returns the requested operator or
// [request.Auto].
func OperatorName(r *Record) string {
	switch {
	case r.Operator != "":
		return r.Operator
	case r.RequestedOperator != "":
		return r.RequestedOperator
	default:
		return request.Auto
	}
}

// DetectionOf returns the detection with its confidence. A series identifies the first operator of
// a number, but the number may have been ported since.
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

// failure returns the error of a failed recharge for clients. The error is never retryable, because
// a repeated request with the same ref_id returns the same recharge.
func failure(r *Record) *schema.Problem {
	p := &schema.Problem{Code: r.ErrorCode, Message: r.ErrorMessage}
	if r.ErrorCode == schema.InvalidNumber {
		p.Field = numberField(r.Type)
	}
	return p
}

// numberField returns the name of the request's field for the recharged number.
func numberField(t schema.RechargeType) string {
	if t == schema.DTH {
		return "subscriber_id"
	}
	return "mobile"
}

// Summary returns the part of a timeline that the row of a recharge holds. hasSteps
// means that the timeline has stored steps.
func Summary(r *Record, hasSteps bool) *transaction.Summary {
	o := &transaction.Summary{Created: r.CreatedAt, Sent: r.SentAt, Act: schema.ActSubmit, Finished: r.FinishedAt, Outcome: schema.AnswerSuccess, Refunded: r.RefundedAt}
	answer := schema.AnswerSucceeded
	if r.State == schema.RechargeFailed {
		o.Outcome, answer = schema.AnswerFailed, schema.AnswerFailed
	}
	// A recharge stored by an older version has no steps. If it was polled, its last answer is unknown, and o.Answer
	// stays empty.
	if r.Reference == r.ID && (hasSteps || r.Tries == 0) {
		o.Answer = answer
	}
	return o
}

// failureTexts are the messages of failures for clients. Clients never get a provider's own text.
var failureTexts = map[schema.Code]string{
	schema.InvalidNumber:        "The operator has no subscriber of this number. " + NothingCharged,
	schema.InsufficientBalance:  "The balance does not cover the amount. " + NothingCharged,
	schema.OperatorNetworkError: "The operator's network did not carry the recharge out. " + NothingCharged,
	schema.OperatorUnavailable:  "The operator is unavailable at the moment. " + NothingCharged,
	schema.AmountNotSupported:   "The operator does not accept this amount. " + NothingCharged,
	schema.InvalidAmount:        "The operator does not accept this amount. " + NothingCharged,
}

// FailureText returns the message of a failure for clients; "" if the code has none.
func FailureText(code schema.Code) string { return failureTexts[code] }

// NothingCharged is the last sentence of each failure's message.
const NothingCharged = "Nothing was charged."

// InvalidNumberTexts are the messages about invalid numbers. They describe valid numbers.
var InvalidNumberTexts = map[schema.RechargeType]string{
	schema.Prepaid: "The mobile must be an Indian number of ten digits, of which the first is 6 to 9.",
	schema.DTH:     "The subscriber_id must have 8 to 12 digits.",
}
