package connector

import (
	"net/http"
	"time"

	"vayu/pipeline/httpconnector"
	"vayu/pipeline/recharge"
)

// Receive verifies and decodes a callback. It implements recharge.Receiver.
func (p *provider) Receive(header http.Header, body []byte, now time.Time) (recharge.Callback, error) {
	reply, err := p.client.Receive(header, body, now)
	if err != nil {
		return recharge.Callback{}, httpconnector.CallbackProblem(err)
	}
	return recharge.Callback{Reference: reply.Fields["reference"], Answer: p.answer(reply.Fields)}, nil
}
