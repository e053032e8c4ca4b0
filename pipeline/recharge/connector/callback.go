package connector

import (
	"net/http"
	"time"

	"vayu/pipeline/httpconnector"
	"vayu/pipeline/recharge/order"
	"vayu/pipeline/transaction"
)

// Receive verifies and decodes a callback. It implements transaction.Receiver.
func (p *provider) Receive(header http.Header, body []byte, now time.Time) (transaction.Message[order.Answer], error) {
	reply, err := p.client.Receive(header, body, now)
	if err != nil {
		return transaction.Message[order.Answer]{}, httpconnector.CallbackProblem(err)
	}
	return transaction.Message[order.Answer]{Reference: reply.Fields["reference"], Answer: p.answer(reply.Fields)}, nil
}
