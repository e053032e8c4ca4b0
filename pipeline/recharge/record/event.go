package record

import (
	"fmt"

	"vayu/internal/sqlstore"
	"vayu/pipeline/transaction"
	"vayu/schema"
)

// AppendEvent appends the event for the recharge's state to the outbox, in the transaction that changes the state.
func AppendEvent(tx *sqlstore.Tx, events transaction.Events, r *Record) error {
	typ, data := eventOf(r)
	if _, err := events.Append(tx, r.Owner.Account, r.Owner.World, typ, data); err != nil {
		return fmt.Errorf("storing the event of %s: %w", r.ID, err)
	}
	return nil
}

// eventOf returns the event of a recharge's state. The event has the masked number, because events are stored and pass
// through Kafka. A delivery has the unmasked number if its subscription requests that.
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

// failure returns a failed recharge's error for clients. The error is never retryable, because a
// repeated request with the same ref_id returns the same recharge.
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

// InvalidNumberTexts are the messages about an invalid number. They say which numbers are valid.
var InvalidNumberTexts = map[schema.RechargeType]string{
	schema.Prepaid: "The mobile must be an Indian number of ten digits, of which the first is 6 to 9.",
	schema.DTH:     "The subscriber_id must have 8 to 12 digits.",
}
