package recording

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"vayu/ingest"
	"vayu/ingest/conformance"
)

// MessagesFile is the name of the file with the messages of a test case.
const MessagesFile = "messages.ndjson"

// Message is a line of the file [MessagesFile].
type Message struct {
	Topic string `json:"topic"`
	// Payload is the payload of the message. A payload in JSON is stored as JSON, unless it is a JSON string. Any other
	// payload is encoded as a JSON string, which a reader must decode once.
	Payload  json.RawMessage `json:"payload"`
	Retained bool            `json:"retained,omitempty"`
	At       time.Time       `json:"at,omitzero"` // when the message was received; zero means the time of the case
}

// OfMessages makes a test case from received messages. The time of the test case is that of the last message.
func OfMessages(exchanges []ingest.Exchange) (*Recording, error) {
	if len(exchanges) == 0 {
		return nil, errors.New("recording messages: none has arrived")
	}
	var scrub Scrubber
	for _, e := range exchanges {
		scrub.Learn([]byte(e.Body))
	}
	var lines bytes.Buffer
	var last time.Time
	out := json.NewEncoder(&lines)
	out.SetEscapeHTML(false)
	for _, e := range exchanges {
		if e.Message == nil {
			return nil, fmt.Errorf("recording messages: %q is a request", e.Request)
		}
		at := e.Message.At.UTC().Truncate(time.Second) // with the precision of the time of a case
		if at.After(last) {
			last = at
		}
		line := Message{Topic: scrub.Text(e.Message.Topic), Payload: scrub.Body([]byte(e.Body)), Retained: e.Message.Retained, At: at}
		if !json.Valid(line.Payload) || bytes.HasPrefix(bytes.TrimSpace(line.Payload), []byte{'"'}) {
			text, err := json.Marshal(string(line.Payload))
			if err != nil {
				return nil, fmt.Errorf("recording a message: %w", err)
			}
			line.Payload = text
		}
		if err := out.Encode(line); err != nil {
			return nil, fmt.Errorf("recording a message: %w", err)
		}
	}
	return &Recording{
		Case:  conformance.Case{About: "recorded at " + last.Format(time.RFC3339), Now: last, Input: MessagesFile},
		Files: map[string][]byte{MessagesFile: lines.Bytes()}, Replaced: scrub.Replaced,
	}, nil
}
