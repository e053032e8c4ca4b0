package dispatch

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"vayu/dispatch/subscription"
	"vayu/schema"
)

// numberTimeout bounds the lookup of a mobile number. After a slow lookup, the attempt may end
// later than its lease. Another instance may then claim the delivery and send the event again.
const numberTimeout = time.Second

// numberEvents is the prefix of the types of events that contain a mobile number.
const numberEvents = "recharge."

// body returns the body of an attempt: the envelope (JSON of the event). If the subscription is to get unmasked mobile
// numbers, body replaces the masked number in the envelope. It returns false if the lookup of the number fails. The
// caller then releases the delivery, and a later attempt sends it.
func (s *Service) body(ctx context.Context, w *work, sub *subscription.Subscription) ([]byte, bool) {
	if !sub.ClearNumbers || s.Number == nil || !strings.HasPrefix(string(w.Type), numberEvents) {
		return w.Envelope, true
	}
	limit, done := context.WithTimeout(ctx, numberTimeout)
	defer done()
	body, err := withNumber(w.Envelope, func(transaction string) (string, error) {
		return s.Number(limit, schema.Owner{Account: sub.Account, World: sub.World}, transaction)
	})
	s.metrics.numbers.Observe(ctx, err)
	return body, err == nil
}

// withNumber replaces the masked number in the envelope by the unmasked one, which `number` returns. It returns the
// envelope unchanged if the envelope has no number, if `number` returns "", or if the two numbers do not match. For a
// test event `number` returns "", because a test event has no recharge.
func withNumber(envelope []byte, number func(transaction string) (string, error)) ([]byte, error) {
	var event struct {
		Data struct {
			Transaction string          `json:"transaction_id"`
			Mobile      json.RawMessage `json:"mobile"`
		} `json:"data"`
	}
	var masked string
	if err := json.Unmarshal(envelope, &event); err != nil {
		return nil, fmt.Errorf("decoding an event envelope: %w", err)
	}
	if err := json.Unmarshal(event.Data.Mobile, &masked); err != nil {
		return envelope, nil //nolint:nilerr // an event without a number
	}
	clearNumber, err := number(event.Data.Transaction)
	if err != nil || clearNumber == "" || schema.MaskNumber(clearNumber) != masked {
		return envelope, err
	}
	text, err := json.Marshal(clearNumber)
	if err != nil {
		return nil, err
	}
	const field = `"mobile":` // quotes in strings are escaped, so this matches only the field
	return bytes.Replace(envelope, append([]byte(field), event.Data.Mobile...), append([]byte(field), text...), 1), nil
}
