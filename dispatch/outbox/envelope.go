package outbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"vayu/schema"
)

// maxEnvelope is the maximum size of an envelope (the JSON of an event) in bytes. Every documented event is far
// smaller. Kafka's brokers accept 1 MiB, so they accept every stored event.
const maxEnvelope = 256 << 10

var (
	errType   = errors.New("unknown event type")
	errObject = errors.New("the data is not a JSON object")
	errUTF8   = errors.New("the data is not UTF-8")
)

func (o *Outbox) event(account string, world schema.World, typ schema.EventType, data any) (Event, error) {
	if !slices.Contains(schema.EventTypes, typ) {
		return Event{}, errType
	}
	object, err := encode(data)
	if err != nil {
		return Event{}, err
	}
	if object[0] != '{' {
		return Event{}, errObject
	}
	id, at, err := o.ids.next(o.Now())
	if err != nil {
		return Event{}, err
	}
	e := Event{ID: id, Account: account, World: world, Type: typ, CreatedAt: at}
	e.Envelope, err = encode(schema.Envelope{ID: id, Type: typ, Created: at.Unix(), APIVersion: schema.EventVersion, Data: object})
	switch {
	case err != nil:
		return Event{}, err
	case !utf8.Valid(e.Envelope):
		return Event{}, errUTF8
	case len(e.Envelope) > maxEnvelope:
		return Event{}, fmt.Errorf("the envelope has %d bytes; the maximum is %d", len(e.Envelope), maxEnvelope)
	}
	return e, nil
}

// encode returns compact JSON without HTML escapes.
func encode(v any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}
