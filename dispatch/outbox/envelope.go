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

// envelopeMost bounds the bytes of an envelope: far above every documented event,
// and far enough below the 1 MiB that Kafka's brokers take that no event can be
// stored that is never brought on.
const envelopeMost = 256 << 10

var (
	errType   = errors.New("there is no such type of event")
	errObject = errors.New("the data is no JSON object")
	errUTF8   = errors.New("the data is not UTF-8")
)

// event makes an event that happens now.
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
	case len(e.Envelope) > envelopeMost:
		return Event{}, fmt.Errorf("the envelope has %d bytes, and may have %d", len(e.Envelope), envelopeMost)
	}
	return e, nil
}

// encode is JSON without white space and without escapes for HTML.
func encode(v any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}
