package messages

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"vayu/ingest"
	"vayu/ingest/source/described/mapping"
	"vayu/ingest/source/described/record"
	"vayu/ingest/stream"
	"vayu/schema/parameter"
)

// Decoder decodes the messages of a subscription. It implements [stream.Decoder].
type Decoder struct {
	Owner

	s *Subscription

	last   map[series]time.Time // time of the last stored reading of each series
	staged map[series]time.Time // time of the last reading of each series in the last Decode; Commit copies it to `last`
	// states[k] is true if the device with the key k is available. k consists of the fields in the topic of the
	// device's report (see keyOf).
	states map[string]bool
}

// series identifies the readings of one parameter at a station.
type series struct {
	station   string
	parameter parameter.Parameter
}

// NewDecoder returns a decoder that has not decoded any message.
func (o Owner) NewDecoder() *Decoder {
	return &Decoder{
		Owner: o, s: o.Subscription,
		last: make(map[series]time.Time), staged: make(map[series]time.Time), states: make(map[string]bool),
	}
}

// Decode implements [stream.Decoder].
func (d *Decoder) Decode(messages []stream.Message) (batches []*ingest.Batch, outcomes map[stream.Outcome]int, err error) {
	clear(d.staged)
	outcomes = make(map[stream.Outcome]int)
	b := ingest.NewBuilder(d.Source, d.Clock(), func(batch *ingest.Batch) error {
		batches = append(batches, batch)
		return nil
	})
	var current *stream.Message
	number := int64(0)
	b.Describe(func() (int64, string) { return number, d.Clean(current.Topic + " " + string(current.Payload)) })
	sink := d.s.mapping.NewSink(b, d.Clock(), d.s.devices)
	sink.OnlyListed, sink.Accept = d.s.devicesOnly, d.accept
	for i := range messages {
		current, number = &messages[i], int64(i+1)
		outcome, err := d.message(sink, current)
		outcomes[outcome]++
		refused, unreadable := errors.AsType[*ingest.BatchError](err)
		if err != nil && !unreadable {
			b.Discard()
			return batches, nil, err
		}
		if unreadable {
			b.RejectField(refused.Reason, "")
		}
	}
	return batches, outcomes, b.Close()
}

// Commit implements [stream.Decoder].
func (d *Decoder) Commit() {
	maps.Copy(d.last, d.staged)
	clear(d.staged)
	if len(d.last) > mostSeries {
		oldest := d.Clock().Add(-d.s.gap)
		maps.DeleteFunc(d.last, func(_ series, at time.Time) bool { return at.Before(oldest) })
	}
}

// mostSeries is the number of series in d.last above which Commit removes those without a reading in the last d.s.gap.
const mostSeries = 100_000

// accept reports whether a reading is at least d.s.gap (key minimum-gap) earlier or later than the last accepted
// reading of its series. If so, it stages the reading's time for Commit.
func (d *Decoder) accept(station string, p parameter.Parameter, at time.Time) bool {
	if d.s.gap == 0 {
		return true
	}
	of := series{station, p}
	last, known := d.staged[of]
	if !known {
		last, known = d.last[of]
	}
	if known && at.Sub(last).Abs() < d.s.gap {
		return false
	}
	d.staged[of] = at
	return true
}

// message adds the readings in one message. If the message is unreadable, the error is an [*ingest.BatchError].
func (d *Decoder) message(sink *mapping.Sink, m *stream.Message) (stream.Outcome, error) {
	if a := d.s.available; a != nil {
		if fields, ok := a.topic.Match(m.Topic); ok {
			d.states[keyOf(fields)] = !slices.Contains(a.offline, a.state(m.Payload))
			return stream.Availability, nil
		}
	}
	fields, ok := d.match(m.Topic)
	switch {
	case !ok:
		return stream.Unmatched, nil
	case m.Retained && !d.s.retained:
		return stream.Retained, nil
	case d.offline(fields):
		return stream.Offline, nil
	}
	payload := m.Payload
	if d.s.text {
		payload = textPayload(payload)
	}
	if d.s.needs != nil && json.Valid(payload) && record.TextOf(payload, d.s.needs) == "" {
		return stream.Unmatched, nil
	}
	reply, err := d.s.mapping.Records.Decode(payload, d.Clean)
	if err != nil {
		return stream.Unreadable, err
	}
	sink.At(m.At)
	_, err = sink.Add(reply, fields)
	return stream.Read, err
}

// match returns the fields in a topic, or false if no pattern of the description matches the topic.
func (d *Decoder) match(topic string) (map[string]string, bool) {
	for _, p := range d.s.topics {
		if fields, ok := p.Match(topic); ok {
			return fields, true
		}
	}
	return nil, false
}

// offline reports whether the device that sent a message was last reported as unavailable.
func (d *Decoder) offline(fields map[string]string) bool {
	if d.s.available == nil {
		return false
	}
	of := make(map[string]string)
	for _, name := range d.s.available.topic.Fields() {
		of[name] = fields[name]
	}
	online, known := d.states[keyOf(of)]
	return known && !online
}

// Devices returns how many devices are available and how many are not.
func (d *Decoder) Devices() (online, offline int) {
	for _, is := range d.states {
		if is {
			online++
		} else {
			offline++
		}
	}
	return online, offline
}

// state returns the state of a device, from the payload of a message in its availability topic.
func (a *availability) state(payload []byte) string {
	if len(a.field) == 0 {
		return strings.TrimSpace(string(payload))
	}
	if text := record.TextOf(payload, a.field); text != "" {
		return text
	}
	return strings.TrimSpace(string(payload))
}

// keyOf returns a text that consists of the values of all fields, for use as a key of [Decoder].states.
func keyOf(fields map[string]string) string {
	var key strings.Builder
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		key.WriteString(strconv.Quote(fields[name]))
	}
	return key.String()
}

// textPayload wraps a payload that is plain text in a JSON object: {"payload": TEXT}.
func textPayload(payload []byte) []byte {
	text, err := json.Marshal(map[string]string{"payload": strings.TrimSpace(string(payload))})
	if err != nil { // a text is always JSON
		return nil
	}
	return text
}
