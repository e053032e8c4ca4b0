package recharge

import (
	"fmt"
	"time"

	"github.com/oklog/ulid/v2"

	"vayu/internal/sqlstore"
	"vayu/schema"
)

// Beginnings of ids; a ULID ends them.
const (
	idPrefix     = "txn_"
	refundPrefix = "rfd_"
)

func newID(now time.Time) string       { return idPrefix + ulid.MustNewDefault(now).String() }
func newRefundID(now time.Time) string { return refundPrefix + ulid.MustNewDefault(now).String() }

// failureTexts are what clients are told of failures. What a provider writes never
// reaches them.
var failureTexts = map[schema.Code]string{
	schema.InvalidNumber:        "The operator has no subscriber of this number. " + nothingCharged,
	schema.InsufficientBalance:  "The balance does not cover the amount. " + nothingCharged,
	schema.OperatorNetworkError: "The operator's network did not carry the recharge out. " + nothingCharged,
	schema.OperatorUnavailable:  "The operator does not take recharges at the moment. " + nothingCharged,
	schema.AmountNotSupported:   "The operator does not take this amount. " + nothingCharged,
	schema.InvalidAmount:        "The operator does not take this amount. " + nothingCharged,
}

// nothingCharged ends what is said of every failure.
const nothingCharged = "Nothing was charged."

// notNumbers say what a number has to be, of one that cannot be anybody's.
var notNumbers = map[schema.RechargeType]string{
	schema.Prepaid: "This is no mobile number of India: it has ten digits, of which the first is 6 to 9.",
	schema.DTH:     "This is no id of a DTH subscriber: it has 8 to 12 digits.",
}

// numberField is the field that has the number of a type.
func numberField(t schema.RechargeType) string {
	if t == schema.DTH {
		return "subscriber_id"
	}
	return "mobile"
}

// failure is why a recharge has failed, as clients are told. It is never one that goes
// away by itself: the same request gets the same recharge, because its ref_id is used.
func failure(r *Record) *schema.Problem {
	p := &schema.Problem{Code: r.ErrorCode, Message: r.ErrorMessage}
	if r.ErrorCode == schema.InvalidNumber {
		p.Field = numberField(r.Type)
	}
	return p
}

// reversedText is the reason of a refund for which the provider gave none.
const reversedText = "The operator reversed the recharge."

func failureText(code schema.Code) string { return failureTexts[code] }

// failureOf is why a recharge has failed: a code that has a text.
func failureOf(w *word) schema.Code {
	switch {
	case w.err != nil || w.Outcome == Reversed:
		return schema.OperatorNetworkError
	case w.Outcome == NotSubscriber:
		return schema.InvalidNumber
	case failureTexts[w.Code] == "":
		return schema.OperatorNetworkError
	}
	return w.Code
}

// append stores the event of the state that a recharge is in, in the transaction
// that has brought it there.
func (s *Service) append(tx *sqlstore.Tx, r *Record) error {
	typ, data := eventOf(r)
	if _, err := s.Events.Append(tx, r.Owner.Account, r.Owner.World, typ, data); err != nil {
		return fmt.Errorf("telling of %s: %w", r.ID, err)
	}
	return nil
}

// eventOf is what is told of a recharge in its state. Its number is masked: events are
// kept, and pass through Kafka. A subscription can ask for the number (ClearNumber).
func eventOf(r *Record) (schema.EventType, *schema.RechargeEvent) {
	e := &schema.RechargeEvent{
		TransactionID: r.ID, Mobile: schema.MaskNumber(r.Number), Operator: carrier(r), Circle: r.Circle, Amount: r.Amount, Type: r.Type, Status: r.State, RefID: r.RefID,
		BatchID: r.Batch.Batch,
	}
	switch r.State {
	case schema.RechargeSuccess:
		e.CompletedAt = instant(r.FinishedAt)
		return schema.EventRechargeCompleted, e
	case schema.RechargeFailed:
		charged := false
		e.Charged, e.Error, e.FailedAt = &charged, failure(r), instant(r.FinishedAt)
		return schema.EventRechargeFailed, e
	case schema.RechargeRefunded:
		e.RefundID, e.Reason, e.RefundedAt = r.RefundID, r.RefundReason, instant(r.RefundedAt)
		return schema.EventRechargeRefunded, e
	default:
		e.CreatedAt = instant(r.CreatedAt)
		return schema.EventRechargePending, e
	}
}
