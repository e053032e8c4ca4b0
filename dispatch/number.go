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

// numberMost bounds the lookup of a number. An attempt that began late can then end
// after its lease, and the event is sent twice.
const numberMost = time.Second

// numberEvents begins the types of events that have a number.
const numberEvents = "recharge."

// body returns what an attempt sends: the bytes of the envelope, with the number in
// clear for a subscription that asks for it. It is false when the store does not
// answer: the attempt is then made later.
func (s *Service) body(ctx context.Context, w *work, sub *subscription.Subscription) ([]byte, bool) {
	if !sub.ClearNumbers || s.Number == nil || !strings.HasPrefix(string(w.Type), numberEvents) {
		return w.Envelope, true
	}
	limit, done := context.WithTimeout(ctx, numberMost)
	defer done()
	body, err := withNumber(w.Envelope, func(transaction string) (string, error) {
		return s.Number(limit, schema.Owner{Account: sub.Account, World: sub.World}, transaction)
	})
	s.metrics.numbers.Tell(ctx, err)
	return body, err == nil
}

// withNumber puts the clear number into the envelope of a recharge. The envelope stays
// as it is when there is no clear number, or when it is not the masked one: a test event
// names a recharge that does not exist.
func withNumber(envelope []byte, number func(transaction string) (string, error)) ([]byte, error) {
	var event struct {
		Data struct {
			Transaction string          `json:"transaction_id"`
			Mobile      json.RawMessage `json:"mobile"`
		} `json:"data"`
	}
	var masked string
	if err := json.Unmarshal(envelope, &event); err != nil {
		return nil, fmt.Errorf("reading an envelope: %w", err)
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
	const field = `"mobile":` // quotes inside of texts are escaped, so only the field begins so
	return bytes.Replace(envelope, append([]byte(field), event.Data.Mobile...), append([]byte(field), text...), 1), nil
}
