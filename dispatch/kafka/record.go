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
	"vayu/internal/topic"
	"vayu/internal/tracing"
	"vayu/schema"

	"github.com/segmentio/kafka-go"
)

// Headers of an event's message.
const (
	headerID          = "event-id"
	headerType        = "event-type"
	headerMode        = "mode"    // live or sandbox
	headerCreated     = "created" // microseconds since 1970
	headerContentType = "content-type"
	headerTrace       = "traceparent" // W3C trace context of the event; absent for none

	contentType = "application/json"
)

// Reasons of dead letters, as values of the label.
const (
	reasonHeaders  = "headers"  // a header is missing or invalid
	reasonKey      = "key"      // the key is not an account
	reasonEnvelope = "envelope" // the envelope is invalid, or contradicts the headers
	reasonTooLong  = "too_long"
	reasonRefused  = "refused" // the function Process rejected the event
)

var reasons = []string{reasonHeaders, reasonKey, reasonEnvelope, reasonTooLong, reasonRefused}

// maxEnvelope is the maximum size of an envelope in bytes.
const maxEnvelope = topic.MaxValue

// maxKey is the maximum length of an account id in bytes. The ids that Vayu makes have 30 bytes.
const maxKey = 128

func encode(e outbox.Event) kafka.Message {
	m := kafka.Message{
		Key: []byte(e.Account), Value: e.Envelope,
		Headers: []kafka.Header{
			{Key: headerID, Value: []byte(e.ID)},
			{Key: headerType, Value: []byte(e.Type)},
			{Key: headerMode, Value: []byte(e.World.String())},
			{Key: headerCreated, Value: strconv.AppendInt(nil, e.CreatedAt.UnixMicro(), 10)},
			{Key: headerContentType, Value: []byte(contentType)},
		},
	}
	if e.Trace != "" {
		m.Headers = append(m.Headers, kafka.Header{Key: headerTrace, Value: []byte(e.Trace)})
	}
	return m
}

// fault is why a message goes to the dead topic: the error, and the reason for the metric.
type fault struct {
	reason string
	err    error
}

var (
	legalID      = regexp.MustCompile(`^evt_[0-9A-Za-z]{1,60}$`)
	legalType    = regexp.MustCompile(`^[a-z]+(\.[a-z_]+)+$`)
	legalAccount = regexp.MustCompile(`^[[:graph:]]+$`)
)

// maxMicros is the end of the year 9999, the last year that a JSON time can represent.
const maxMicros = 253402300799999999

// decode returns the event of a message, or the fault of a message that is not an event. It accepts
// unknown event types, because newer instances write them during a rolling upgrade.
func decode(m kafka.Message) (outbox.Event, *fault) {
	e, err := decodeHeaders(m.Headers)
	if err != nil {
		return outbox.Event{}, &fault{reasonHeaders, err}
	}
	if len(m.Key) > maxKey || !legalAccount.Match(m.Key) {
		return outbox.Event{}, &fault{reasonKey, fmt.Errorf("the key is not an account: %.40q", m.Key)}
	}
	e.Account = string(m.Key)
	if len(m.Value) > maxEnvelope {
		return outbox.Event{}, &fault{reasonTooLong, fmt.Errorf("the envelope has %d bytes, more than %d: %w", len(m.Value), maxEnvelope, topic.ErrTooLong)}
	}
	if err := checkEnvelope(m.Value, e); err != nil {
		return outbox.Event{}, &fault{reasonEnvelope, err}
	}
	e.Envelope = m.Value
	return e, nil
}

func decodeHeaders(headers []kafka.Header) (e outbox.Event, err error) {
	seen := map[string]string{}
	for _, h := range headers {
		if _, twice := seen[h.Key]; twice {
			return e, fmt.Errorf("header %.40q is duplicated", h.Key)
		}
		seen[h.Key] = string(h.Value)
	}
	for _, name := range []string{headerID, headerType, headerMode, headerCreated} {
		if _, there := seen[name]; !there {
			return e, fmt.Errorf("header %s is missing", name)
		}
	}
	e.ID, e.Type = seen[headerID], schema.EventType(seen[headerType])
	if !legalID.MatchString(e.ID) {
		return e, fmt.Errorf("header %s is not an id: %.40q", headerID, e.ID)
	}
	if len(e.Type) > 100 || !legalType.MatchString(string(e.Type)) {
		return e, fmt.Errorf("header %s is not a type: %.40q", headerType, string(e.Type))
	}
	switch mode := seen[headerMode]; mode {
	case schema.Live.String():
		e.World = schema.Live
	case schema.Sandbox.String():
		e.World = schema.Sandbox
	default:
		return e, fmt.Errorf("header %s is not a mode: %.40q", headerMode, mode)
	}
	created, err := strconv.ParseInt(seen[headerCreated], 10, 64)
	if err != nil || created < 0 || created > maxMicros {
		return e, fmt.Errorf("header %s is not a time: %.40q", headerCreated, seen[headerCreated])
	}
	e.CreatedAt = time.UnixMicro(created).UTC()
	if carried := seen[headerTrace]; tracing.ValidTraceparent(carried) { // optional
		e.Trace = carried
	}
	return e, nil
}

func checkEnvelope(text []byte, e outbox.Event) error {
	if !utf8.Valid(text) {
		return errors.New("the envelope is not UTF-8")
	}
	if first := bytes.TrimLeft(text, " \t\r\n"); len(first) == 0 || first[0] != '{' {
		return errors.New("the envelope is not an object")
	}
	var envelope schema.Envelope
	if err := json.Unmarshal(text, &envelope); err != nil {
		return fmt.Errorf("decoding the envelope: %w", err)
	}
	switch {
	case envelope.ID != e.ID:
		return fmt.Errorf("the envelope has the id %.40q, not %q", envelope.ID, e.ID)
	case envelope.Type != e.Type:
		return fmt.Errorf("the envelope has the type %.40q, not %q", string(envelope.Type), string(e.Type))
	case envelope.APIVersion == "":
		return errors.New("the envelope has no api_version")
	case len(envelope.Data) == 0:
		return errors.New("the envelope has no data")
	}
	return nil
}
