package connector

import (
	"net/http"
	"time"

	"vayu/pipeline/httpconnector"
	"vayu/pipeline/recharge"
)

// Receive implements recharge.Receiver.
func (p *provider) Receive(header http.Header, body []byte, now time.Time) (recharge.Told, error) {
	reply, err := p.client.Receive(header, body, now)
	if err != nil {
		return recharge.Told{}, httpconnector.Refusal(err)
	}
	return recharge.Told{Reference: reply.Fields["reference"], Answer: p.answer(reply.Fields)}, nil
}
