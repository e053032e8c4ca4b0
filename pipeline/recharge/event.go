package recharge

import (
	"fmt"
	"time"

	"github.com/oklog/ulid/v2"

	"vayu/internal/state"
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
	schema.InvalidNumber:        "The operator has no subscriber of this number. Nothing was charged.",
	schema.InsufficientBalance:  "The balance does not cover the amount. Nothing was charged.",
	schema.OperatorNetworkError: "The operator could not be reached. Nothing was charged.",
	schema.OperatorUnavailable:  "The operator does not take recharges at the moment. Nothing was charged.",
	schema.AmountNotSupported:   "The operator does not take this amount. Nothing was charged.",
	schema.InvalidAmount:        "The operator does not take this amount. Nothing was charged.",
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
func (s *Service) append(tx *state.Tx, r *Record) error {
	typ, data := eventOf(r)
	if _, err := s.Events.Append(tx, r.Owner.Account, r.Owner.World, typ, data); err != nil {
		return fmt.Errorf("telling of %s: %w", r.ID, err)
	}
	return nil
}

// eventOf is what is told of a recharge in its state.
func eventOf(r *Record) (schema.EventType, *schema.RechargeEvent) {
	e := &schema.RechargeEvent{
		TransactionID: r.ID, Mobile: r.Number, Operator: carrier(r), Circle: r.Circle, Amount: r.Amount, Type: r.Type, Status: r.State, RefID: r.RefID,
	}
	switch r.State {
	case schema.RechargeSuccess:
		e.CompletedAt = instant(r.FinishedAt)
		return schema.EventRechargeCompleted, e
	case schema.RechargeFailed:
		charged := false
		e.Charged, e.Error, e.FailedAt = &charged, schema.Refuse(r.ErrorCode, "", r.ErrorMessage), instant(r.FinishedAt)
		return schema.EventRechargeFailed, e
	case schema.RechargeRefunded:
		e.RefundID, e.Reason, e.RefundedAt = r.RefundID, r.RefundReason, instant(r.RefundedAt)
		return schema.EventRechargeRefunded, e
	default:
		e.CreatedAt = instant(r.CreatedAt)
		return schema.EventRechargePending, e
	}
}
