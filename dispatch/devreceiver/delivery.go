package devreceiver

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"vayu/dispatch/webhook"
)

// maxRemembered is how many events the listener remembers, to detect duplicates. They need one or
// two megabytes of memory.
const maxRemembered = 10_000

// delivery is a delivery that the listener has received, and the reply to it.
type delivery struct {
	at      time.Time
	event   webhook.Event // empty if the body is not an event
	id      string        // from the header
	eventID string        // from the header
	attempt string
	mode    string
	body    []byte
	// wrong is why the signature is invalid; unchecked means that there is no secret.
	wrong     error
	unchecked bool
	answer    int // HTTP status of the reply
	// since is the time from the event to the delivery; timed reports whether it is known.
	since time.Duration
	timed bool
	// before is the first delivery of the same event. It is nil if this delivery is the first,
	// has an invalid signature or is not an event.
	before *first
}

// first is the first delivery of an event.
type first struct {
	at          time.Time
	id, attempt string
}

// verified reports whether the signature was checked and is valid.
func (d *delivery) verified() bool { return !d.unchecked && d.wrong == nil }

// parse verifies and decodes a delivery.
func (l *Listener) parse(at time.Time, header http.Header, body []byte) *delivery {
	d := &delivery{
		at: at, body: body,
		id:      header.Get("X-SERVICE-Delivery-Id"),
		eventID: header.Get("X-SERVICE-Event-Id"),
		attempt: header.Get("X-SERVICE-Attempt"),
		mode:    header.Get("X-SERVICE-Mode"),
	}
	if d.mode == "" {
		d.mode = "live"
	}
	if d.unchecked = len(l.Secrets) == 0; !d.unchecked {
		d.wrong = webhook.Verify(body, strings.Join(header.Values(webhook.Header), ","), at, l.Secrets...)
	}
	d.answer = l.answer(d)
	if json.Unmarshal(body, &d.event) != nil {
		d.event = webhook.Event{}
		return d
	}
	d.since, d.timed = since(d.event, at)
	if d.wrong == nil && d.event.ID != "" { // a forgery must not mark the real event as a duplicate
		if before, known, _ := l.seen.PeekOrAdd(d.event.ID, first{at, d.id, d.attempt}); known {
			d.before = &before
		}
	}
	return d
}

// since returns the time from an event to the time at, rounded to seconds; false if the event has
// no time. If the id of the event contains a time, up to a minute is rounded to milliseconds.
func since(e webhook.Event, at time.Time) (time.Duration, bool) {
	id, err := ulid.ParseStrict(strings.TrimPrefix(e.ID, "evt_"))
	if err != nil {
		return at.Sub(time.Unix(e.Created, 0)).Round(time.Second), e.Created > 0
	}
	ago := at.Sub(id.Timestamp())
	if ago > time.Minute {
		return ago.Round(time.Second), true
	}
	return ago.Round(time.Millisecond), true
}
