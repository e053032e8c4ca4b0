package messages

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"vayu/ingest"
	"vayu/ingest/recording"
	"vayu/ingest/stream"
	"vayu/ingest/stream/mqtt"
)

// Limits of a trial: a short fetch from a stream.
const (
	// firstMessage is how long a trial waits for the first message. Devices with the firmware Tasmota send one message
	// every five minutes.
	firstMessage = 6 * time.Minute
	// further is how long a trial waits for more messages after the first one.
	further       = 30 * time.Second
	trialMessages = 100
)

// trial is an [ingest.Source] that subscribes to a stream for a short time. It uses an MQTT session of its own, so that
// the running service still gets every message.
type trial struct{ Owner }

// Owner is a subscription with the name of its source, a clock, and a function that removes secrets from a text.
type Owner struct {
	Subscription *Subscription
	Source       string
	Clock        func() time.Time
	Clean        func(string) string
}

// Trial returns a source whose fetches subscribe to the stream for a short time.
func (o Owner) Trial() ingest.Source { return &trial{o} }

// Fetch yields the readings of the first message, and of those that arrive within half a minute after it, at most 100
// messages. If the connection fails or no message arrives within six minutes, Fetch returns an error.
func (t *trial) Fetch(ctx context.Context, _ ingest.Window, yield func(*ingest.Batch) error) error {
	limited, cancel := context.WithTimeout(ctx, firstMessage)
	defer cancel()
	s := t.Subscription.Settings
	s.Session, s.ClientID = 0, fmt.Sprintf("vayu-trial-%d", t.Clock().UnixNano())
	var received []stream.Message
	var lost error
	subscriber := mqtt.Subscriber{
		Settings: s, Name: t.Source, Log: slog.New(slog.DiscardHandler), Connected: func(bool) {}, Repeated: func() {},
		Failed: func(err error) {
			lost = err
			cancel()
		},
		Process: func(_ context.Context, batch []stream.Message) error {
			if received == nil {
				time.AfterFunc(further, cancel)
			}
			if received = append(received, batch...); len(received) >= trialMessages {
				cancel()
			}
			return nil
		},
	}
	if err := subscriber.Run(limited); err != nil {
		return err
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case lost != nil:
		return fmt.Errorf("source %q: subscribing at %s: %w", t.Source, s.Address, lost)
	case len(received) == 0:
		return fmt.Errorf("source %q: %s sent no message of %s within %s", t.Source, s.Address, strings.Join(s.Filters, ", "), firstMessage)
	}
	received = received[:min(len(received), trialMessages)]
	recorder := ingest.RecorderOf(ctx)
	for _, m := range received {
		info := ingest.MessageInfo{Topic: m.Topic, At: m.At, Retained: m.Retained}
		recorder.Record(ingest.Exchange{Request: "MQTT " + m.Topic, Message: &info}, m.Payload, t.Clean)
	}
	return t.decode(received, yield)
}

// decode yields the readings of messages, without missing values. It returns an error if no message has a known topic.
func (o *Owner) decode(received []stream.Message, yield func(*ingest.Batch) error) error {
	batches, outcomes, err := o.NewDecoder().Decode(received)
	for i, b := range batches {
		b.Missing = nil
		if err == nil {
			err = yield(b)
			continue
		}
		batches[i].Release()
	}
	if err == nil && len(received) > 0 && outcomes[stream.Unmatched] == len(received) {
		err = errors.New("no message has a topic of the description")
	}
	return err
}

// Replay returns a source that reads messages from the file of a test case. Each line is a JSON object with the fields
// `topic` and `payload`, and optionally `retained` and `at`. A payload that is not JSON is written as a JSON string.
func (o Owner) Replay(path string) ingest.Source { return &replay{o, path} }

type replay struct {
	Owner

	path string
}

// Fetch yields the readings of the messages in the file.
func (r *replay) Fetch(ctx context.Context, _ ingest.Window, yield func(*ingest.Batch) error) error {
	text, err := os.ReadFile(r.path)
	if err != nil {
		return fmt.Errorf("reading messages: %w", err)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var received []stream.Message
	for line := range strings.Lines(string(text)) {
		var m recording.Message
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			return fmt.Errorf("reading message %d of %s: %w", len(received)+1, r.path, err)
		}
		if m.At.IsZero() {
			m.At = r.Clock()
		}
		var plain string
		if json.Unmarshal(m.Payload, &plain) == nil {
			m.Payload = json.RawMessage(plain)
		}
		received = append(received, stream.Message{Topic: m.Topic, Payload: m.Payload, Retained: m.Retained, At: m.At})
	}
	return r.decode(received, yield)
}
