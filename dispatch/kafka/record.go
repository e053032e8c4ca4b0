package kafka

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"time"
	"unicode/utf8"

	"vayu/dispatch/outbox"
	"vayu/internal/tracing"
	"vayu/schema"
)

// The headers of an event's message.
const (
	headerID          = "event-id"
	headerType        = "event-type"
	headerMode        = "mode"    // live or sandbox
	headerCreated     = "created" // microseconds since 1970
	headerContentType = "content-type"
	headerTrace       = "traceparent" // W3C; there when the event has one

	contentType = "application/json"
)

// The reasons for burying a message, as the label of the metric.
const (
	reasonHeaders  = "headers"  // one is missing or faulty
	reasonKey      = "key"      // it names no account
	reasonEnvelope = "envelope" // it is no envelope, or another event's
	reasonTooLong  = "too_long"
	reasonRefused  = "refused" // by who takes events
)

var reasons = []string{reasonHeaders, reasonKey, reasonEnvelope, reasonTooLong, reasonRefused}

// mostEnvelope is how long an envelope may be, bytes. With its headers and those
// of its batch it stays below what a broker takes by default, 1 MiB + 12
// (message.max.bytes).
const mostEnvelope = 900 << 10

// mostKey is how long the name of an account may be, bytes; ours have 30.
const mostKey = 128

// ErrTooLong is the fault of an event that no broker takes.
var ErrTooLong = errors.New("over-long")

// header is a name and a value beside a message.
type header struct {
	key   string
	value []byte
}

// record is a message as it is written.
type record struct {
	key, value []byte
	headers    []header
}

// size is what a record may need at most, bytes.
func (r record) size() int {
	n := len(r.key) + len(r.value) + 40
	for _, h := range r.headers {
		n += len(h.key) + len(h.value) + 10
	}
	return n
}

func encode(e outbox.Event) record {
	r := record{
		key: []byte(e.Account), value: e.Envelope,
		headers: []header{
			{headerID, []byte(e.ID)},
			{headerType, []byte(e.Type)},
			{headerMode, []byte(e.World.String())},
			{headerCreated, strconv.AppendInt(nil, e.CreatedAt.UnixMicro(), 10)},
			{headerContentType, []byte(contentType)},
		},
	}
	if e.Trace != "" {
		r.headers = append(r.headers, header{headerTrace, []byte(e.Trace)})
	}
	return r
}

// Message is one message as it was read.
type Message struct {
	Event outbox.Event // when Fault is nil
	// Fault says why the message is no event.
	Fault error
}

// fault is why a message is no event: a reason for the metric, and a text.
type fault struct {
	reason string
	err    error
}

func (f fault) Error() string { return f.err.Error() }
func (f fault) Unwrap() error { return f.err }

var (
	legalID      = regexp.MustCompile(`^evt_[0-9A-Za-z]{1,60}$`)
	legalType    = regexp.MustCompile(`^[a-z]+(\.[a-z_]+)+$`)
	legalAccount = regexp.MustCompile(`^[[:graph:]]+$`)
)

// mostMicros is the end of the year 9999, the last that a time in JSON can say.
const mostMicros = 253402300799999999

// decode reads a message. A type that this version does not know is no fault: a
// newer one may write it while the instances are renewed one by one.
func decode(r record) Message {
	e, err := decodeHeaders(r.headers)
	if err != nil {
		return Message{Fault: fault{reasonHeaders, err}}
	}
	if len(r.key) > mostKey || !legalAccount.Match(r.key) {
		return Message{Fault: fault{reasonKey, fmt.Errorf("the key names no account: %.40q", r.key)}}
	}
	e.Account = string(r.key)
	if len(r.value) > mostEnvelope {
		return Message{Fault: fault{reasonTooLong, fmt.Errorf("the envelope has %d bytes, more than %d: %w", len(r.value), mostEnvelope, ErrTooLong)}}
	}
	if err := checkEnvelope(r.value, e); err != nil {
		return Message{Fault: fault{reasonEnvelope, err}}
	}
	e.Envelope = r.value
	return Message{Event: e}
}

func decodeHeaders(headers []header) (e outbox.Event, err error) {
	seen := map[string]string{}
	for _, h := range headers {
		if _, twice := seen[h.key]; twice {
			return e, fmt.Errorf("header %.40q is there twice", h.key)
		}
		seen[h.key] = string(h.value)
	}
	for _, name := range []string{headerID, headerType, headerMode, headerCreated} {
		if _, there := seen[name]; !there {
			return e, fmt.Errorf("header %s is missing", name)
		}
	}
	e.ID, e.Type = seen[headerID], schema.EventType(seen[headerType])
	if !legalID.MatchString(e.ID) {
		return e, fmt.Errorf("header %s is no id: %.40q", headerID, e.ID)
	}
	if len(e.Type) > 100 || !legalType.MatchString(string(e.Type)) {
		return e, fmt.Errorf("header %s is no type: %.40q", headerType, string(e.Type))
	}
	switch mode := seen[headerMode]; mode {
	case schema.Live.String():
		e.World = schema.Live
	case schema.Sandbox.String():
		e.World = schema.Sandbox
	default:
		return e, fmt.Errorf("header %s is no mode: %.40q", headerMode, mode)
	}
	created, err := strconv.ParseInt(seen[headerCreated], 10, 64)
	if err != nil || created < 0 || created > mostMicros {
		return e, fmt.Errorf("header %s is no time: %.40q", headerCreated, seen[headerCreated])
	}
	e.CreatedAt = time.UnixMicro(created).UTC()
	if carried := seen[headerTrace]; tracing.Valid(carried) { // without it an event is as good
		e.Trace = carried
	}
	return e, nil
}

func checkEnvelope(text []byte, e outbox.Event) error {
	if !utf8.Valid(text) {
		return errors.New("the envelope is not UTF-8")
	}
	if first := bytes.TrimLeft(text, " \t\r\n"); len(first) == 0 || first[0] != '{' {
		return errors.New("the envelope is no object")
	}
	var envelope schema.Envelope
	if err := json.Unmarshal(text, &envelope); err != nil {
		return fmt.Errorf("reading the envelope: %w", err)
	}
	switch {
	case envelope.ID != e.ID:
		return fmt.Errorf("the envelope is that of %.40q, not of %q", envelope.ID, e.ID)
	case envelope.Type != e.Type:
		return fmt.Errorf("the envelope is of type %.40q, not %q", string(envelope.Type), string(e.Type))
	case envelope.APIVersion == "":
		return errors.New("the envelope has no api_version")
	case len(envelope.Data) == 0:
		return errors.New("the envelope has no data")
	}
	return nil
}
