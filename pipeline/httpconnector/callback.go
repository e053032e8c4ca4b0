package httpconnector

import (
	"net/http"
	"time"

	"vayu/internal/config/section"
	"vayu/pipeline/httpconnector/answer"
)

// Tolerated clock skew of callbacks. The default is that of our own webhooks (spec 5.4).
const (
	defaultTolerance = 5 * time.Minute
	leastTolerance   = time.Second
	mostTolerance    = 24 * time.Hour
)

type callback struct {
	signer    *signer
	tolerance time.Duration
	answer    answer.Reader
}

func newCallback(s *section.Section, shape answer.Shape) *callback {
	c := &callback{}
	if shape == nil {
		s.Faultf("", "there is none here")
	}
	signature := s.Section("signature")
	if !signature.Present() {
		s.Faultf("signature", "is missing: without one, anyone could send callbacks")
	}
	c.tolerance = signature.Duration("tolerance", defaultTolerance, leastTolerance, mostTolerance)
	if signature.Present() {
		c.signer = newSigner(signature, callbackFields)
	}
	c.answer = answer.NewReader(s, shape)
	return c
}

// Receive verifies a callback and reads its body. The error is ErrNoSignature, ErrSignature or
// ErrStale for a missing, wrong or outdated signature, and another error for an unreadable body.
// The error quotes nothing of the request except an unmapped value of a genuine callback.
func (c *Client) Receive(header http.Header, body []byte, now time.Time) (answer.Reply, error) {
	reply, err := c.d.receive(header, body, now)
	outcome := outcomeOf(err)
	c.metrics.callbacks.WithLabelValues(c.d.Name, string(outcome)).Inc()
	if err != nil {
		c.log.Warn("callback refused", "outcome", outcome, "error", err)
		c.log.Debug("content of the refused callback", "detail", detailOf(err))
	}
	return reply, err
}

func (d *Description) receive(header http.Header, body []byte, now time.Time) (answer.Reply, error) {
	if d.callback == nil {
		return answer.Reply{}, &Error{Outcome: forged, err: ErrNoSignature}
	}
	if err := d.callback.signer.verify(header, body, now, d.callback.tolerance); err != nil {
		return answer.Reply{}, &Error{Outcome: forged, err: err}
	}
	reply, err := d.callback.answer.Read(http.StatusOK, body)
	if err != nil {
		return answer.Reply{}, answerError(err, 0, body)
	}
	return reply, nil
}
