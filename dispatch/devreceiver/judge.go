package devreceiver

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"vayu/dispatch/webhook"
)

// mostRemembered bounds the memory of a listener that nobody stops: a megabyte or
// two.
const mostRemembered = 10_000

// delivery is a request that was read, and what is to be said of it.
type delivery struct {
	at      time.Time
	event   webhook.Event // empty when the body holds none
	id      string        // of the delivery, as the header says
	eventID string        // as the header says
	attempt string
	mode    string
	body    []byte
	// wrong says why the signature does not hold; unchecked that there is no secret.
	wrong     error
	unchecked bool
	answer    int // the HTTP status that it gets, if its sender waits
	// since is how long ago the event happened; timed whether that is known.
	since time.Duration
	timed bool
	// before is the first delivery of the same event; nil for the first.
	before *first
}

// first is when an event came for the first time.
type first struct {
	at          time.Time
	id, attempt string
}

// verified tells whether the signature was checked and holds.
func (d *delivery) verified() bool { return !d.unchecked && d.wrong == nil }

// judge verifies a delivery and finds out what it is.
func (l *Listener) judge(at time.Time, header http.Header, body []byte) *delivery {
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
	if d.wrong == nil && d.event.ID != "" { // a forgery must not make the real one look repeated
		d.before = l.seen.note(d.event.ID, first{at, d.id, d.attempt})
	}
	return d
}

// since is how long before at an event happened: to the millisecond when its id
// tells, as it does after evt_, else to the second. Retries are hours late, and
// told to the second.
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

// memory is which events came, up to a number; then the oldest is forgotten.
type memory struct {
	mu    sync.Mutex
	known map[string]first
	order []string // a ring
	next  int
}

func newMemory(most int) *memory {
	return &memory{known: map[string]first{}, order: make([]string, most)}
}

// note remembers an event; when it was known it returns how it came first.
func (m *memory) note(id string, now first) *first {
	m.mu.Lock()
	defer m.mu.Unlock()
	if before, ok := m.known[id]; ok {
		return &before
	}
	delete(m.known, m.order[m.next])
	m.known[id], m.order[m.next] = now, id
	m.next = (m.next + 1) % len(m.order)
	return nil
}
