package aggregator

import (
	"errors"
	"net/http"
	"time"

	"vayu/pipeline/httpjson"
	"vayu/pipeline/recharge"
	"vayu/schema"
)

// Receive implements recharge.Receiver.
func (p *provider) Receive(header http.Header, body []byte, now time.Time) (recharge.Told, error) {
	reply, err := p.client.Receive(header, body, now)
	switch {
	case errors.Is(err, httpjson.ErrNoSignature):
		return recharge.Told{}, schema.Refuse(schema.SignatureRequired, "", "The request must be signed.")
	case errors.Is(err, httpjson.ErrStale):
		return recharge.Told{}, schema.Refuse(schema.SignatureInvalid, "", "The signature is too old, or of the future.")
	case errors.Is(err, httpjson.ErrSignature):
		return recharge.Told{}, schema.Refuse(schema.SignatureInvalid, "", "The signature is not that of the body.")
	case err != nil:
		return recharge.Told{}, schema.Refuse(schema.InvalidRequest, "", "The body is not what was agreed: it needs a reference, and a status that is known.")
	}
	return recharge.Told{Reference: reply.Fields["reference"], Answer: p.answer(reply.Fields)}, nil
}
