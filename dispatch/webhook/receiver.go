package webhook

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// DefaultLimit is the default maximum size of a body: 1 MiB, far more than any event.
const DefaultLimit = 1 << 20

// ErrTooLarge means that a body exceeds the limit of the Receiver.
var ErrTooLarge = errors.New("the body is too large")

// ErrNoEvent means that a body is signed but is not an event.
var ErrNoEvent = errors.New("the body is not an event")

// Receiver verifies deliveries in requests. The zero value has no secret and rejects all deliveries. A Receiver is safe
// for concurrent use.
type Receiver struct {
	// Secrets are the accepted secrets: one, or two during a rotation.
	Secrets []string
	// Tolerance is the maximum difference between the time of a signature and the clock; 0 means
	// the constant Tolerance, 5 minutes.
	Tolerance time.Duration
	// Limit is the maximum size of a body in bytes; 0 means DefaultLimit.
	Limit int64
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Event is the decoded body of a delivery.
type Event struct {
	ID         string          `json:"id"` // the same in every delivery of the event
	Type       string          `json:"type"`
	Created    int64           `json:"created"` // Unix seconds
	APIVersion string          `json:"api_version"`
	Data       json.RawMessage `json:"data"`
}

// Verify checks the signature of a body with the receiver's secrets, tolerance and clock. Its errors are those of the
// function [Verify].
func (v Receiver) Verify(body []byte, header string) error {
	now, tolerance := time.Now, v.Tolerance
	if v.Now != nil {
		now = v.Now
	}
	if tolerance == 0 {
		tolerance = Tolerance
	}
	return verify(body, header, now(), tolerance, v.Secrets)
}

// Read verifies the signature of a request and returns the body. Its errors are ErrTooLarge, the errors of Verify, and
// errors of reading the body.
func (v Receiver) Read(r *http.Request) ([]byte, error) {
	limit := v.Limit
	if limit == 0 {
		limit = DefaultLimit
	}
	if r.ContentLength > limit {
		return nil, ErrTooLarge
	}
	var body []byte
	if r.Body != nil { // nil only in a request that no server has built
		var err error
		if body, err = io.ReadAll(io.LimitReader(r.Body, limit+1)); err != nil {
			return nil, fmt.Errorf("reading the body: %w", err)
		}
	}
	if int64(len(body)) > limit {
		return nil, ErrTooLarge
	}
	// Several header lines form one list (RFC 9110, 5.3). A list with two timestamps (t=…) is
	// rejected.
	if err := v.Verify(body, strings.Join(r.Header.Values(Header), ",")); err != nil {
		return nil, err
	}
	return body, nil
}

// Event reads a request, verifies its signature and decodes the event. Its errors are ErrNoEvent and the errors of
// Read. The caller should reply 2xx within 5 seconds, and process each ID once.
func (v Receiver) Event(r *http.Request) (Event, error) {
	body, err := v.Read(r)
	if err != nil {
		return Event{}, err
	}
	var event Event
	if err := json.Unmarshal(body, &event); err != nil {
		return Event{}, fmt.Errorf("%w: %w", ErrNoEvent, err)
	}
	if event.ID == "" || event.Type == "" {
		return Event{}, fmt.Errorf("%w: it has no id or no type", ErrNoEvent)
	}
	return event, nil
}
