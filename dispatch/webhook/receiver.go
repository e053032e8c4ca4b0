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

// DefaultLimit is how long a body may be when a Receiver says nothing: 1 MiB,
// far more than any event has.
const DefaultLimit = 1 << 20

// ErrTooLarge says that a body is longer than the Receiver takes.
var ErrTooLarge = errors.New("the body is too large")

// ErrNoEvent says that a body is signed and holds no event.
var ErrNoEvent = errors.New("the body is no event")

// Receiver reads deliveries from requests. The zero value knows no secret and so
// refuses all of them. It can be used by many goroutines at once.
type Receiver struct {
	// Secrets are those under which a delivery may be signed: one, or two while the
	// old one is being replaced.
	Secrets []string
	// Tolerance is how far the time of a signature may be off; 0 means the
	// Tolerance of the package.
	Tolerance time.Duration
	// Limit is the most bytes that a body may have; 0 means DefaultLimit.
	Limit int64
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Event is what a delivery carries (spec 2.6).
type Event struct {
	ID         string          `json:"id"` // the same whenever the event comes again
	Type       string          `json:"type"`
	Created    int64           `json:"created"` // Unix seconds
	APIVersion string          `json:"api_version"`
	Data       json.RawMessage `json:"data"`
}

// Verify is the function Verify with the receiver's secrets, tolerance and clock.
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

// Read returns the body of a request once its signature holds; with an error there
// is none. Errors are those of Verify, ErrTooLarge, and what reading says.
func (v Receiver) Read(r *http.Request) ([]byte, error) {
	limit := v.Limit
	if limit == 0 {
		limit = DefaultLimit
	}
	if r.ContentLength > limit {
		return nil, ErrTooLarge
	}
	var body []byte
	if r.Body != nil { // one that no server has made may have none
		var err error
		if body, err = io.ReadAll(io.LimitReader(r.Body, limit+1)); err != nil {
			return nil, fmt.Errorf("reading the body: %w", err)
		}
	}
	if int64(len(body)) > limit {
		return nil, ErrTooLarge
	}
	// Several lines are one list (RFC 9110, 5.3); two times in it are refused.
	if err := v.Verify(body, strings.Join(r.Header.Values(Header), ",")); err != nil {
		return nil, err
	}
	return body, nil
}

// Event returns the event of a request once its signature holds. Errors are those
// of Read, and ErrNoEvent. Answer 2xx within 5 seconds, and do nothing a second
// time for an ID that was there before.
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
