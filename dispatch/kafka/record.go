package kafka

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/segmentio/kafka-go"

	"vayu/dispatch/outbox"
	"vayu/schema"
)

// These are the headers of an event's message. The consumer uses only the id, and reads the event from the state
// store. The other headers are for other consumers of the topic.
const (
	headerID          = "event-id"
	headerType        = "event-type"
	headerMode        = "mode"    // live or sandbox
	headerCreated     = "created" // microseconds since 1970
	headerContentType = "content-type"
	headerTrace       = "traceparent" // W3C trace context of the event; absent for none

	contentType = "application/json"
)

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

func eventID(m kafka.Message) (string, error) {
	for _, h := range m.Headers {
		switch id := string(h.Value); {
		case h.Key != headerID:
		case schema.IsID(id):
			return id, nil
		default:
			return "", fmt.Errorf("header %s is not an id: %.40q", headerID, id)
		}
	}
	return "", errors.New("header " + headerID + " is missing")
}
