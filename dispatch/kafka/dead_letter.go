package kafka

import (
	"context"
	"errors"
	"strconv"

	"github.com/segmentio/kafka-go"

	"vayu/dispatch/outbox"
)

// Headers of a dead letter besides those of the original message.
const (
	headerReason    = "dead-reason" // an element of reasons
	headerFault     = "dead-fault"  // error text
	headerTopic     = "dead-topic"  // original topic
	headerPartition = "dead-partition"
	headerOffset    = "dead-offset"
	headerLength    = "dead-length" // number of bytes cut off; absent if none
)

// Limits of the parts of a dead letter, in bytes. Their sum with maxEnvelope is below maxBatch.
const (
	keptKey     = 1 << 10
	keptFault   = 1 << 10
	keptHeaders = 64 << 10
)

// rejected is a message that goes to the dead topic, with the reason.
type rejected struct {
	message kafka.Message
	fault   fault
}

// decodeBatch decodes messages into events, with the message of each event, and rejected messages.
func decodeBatch(messages []kafka.Message) (events []outbox.Event, of []kafka.Message, dead []rejected) {
	for _, m := range messages {
		if event, why := decode(m); why == nil {
			events, of = append(events, event), append(of, m)
		} else {
			dead = append(dead, rejected{m, *why})
		}
	}
	return events, of, dead
}

// refusal returns the fault of an event that the function Process has rejected.
func refusal(err error) fault {
	if err == nil {
		err = errors.New("no reason was given")
	}
	return fault{reasonRefused, err}
}

// deadLetter returns the message for the dead topic: the original message, cut to the limit
// of a broker, with headers for the error and the origin.
func (d rejected) deadLetter() kafka.Message {
	m := d.message
	cut := len(m.Key) + len(m.Value)
	m.Key, m.Value = m.Key[:min(len(m.Key), keptKey)], m.Value[:min(len(m.Value), maxEnvelope)]
	cut -= len(m.Key) + len(m.Value)
	size, kept := 0, 0
	for _, h := range m.Headers {
		if size += len(h.Key) + len(h.Value) + 10; size > keptHeaders {
			break
		}
		kept++
	}
	for _, h := range m.Headers[kept:] {
		cut += len(h.Key) + len(h.Value)
	}
	text := d.fault.err.Error()
	m.Headers = append(
		m.Headers[:kept:kept],
		kafka.Header{Key: headerReason, Value: []byte(d.fault.reason)},
		kafka.Header{Key: headerFault, Value: []byte(text[:min(len(text), keptFault)])},
		kafka.Header{Key: headerTopic, Value: []byte(m.Topic)},
		kafka.Header{Key: headerPartition, Value: strconv.AppendInt(nil, int64(m.Partition), 10)},
		kafka.Header{Key: headerOffset, Value: strconv.AppendInt(nil, m.Offset, 10)},
	)
	if cut > 0 {
		m.Headers = append(m.Headers, kafka.Header{Key: headerLength, Value: strconv.AppendInt(nil, int64(cut), 10)})
	}
	return m
}

// writeDead writes messages to the dead topic and returns those that were not
// acknowledged.
func (l *Log) writeDead(ctx context.Context, dead []rejected) (left []rejected, err error) {
	records := make([]kafka.Message, len(dead))
	for i, d := range dead {
		records[i] = d.deadLetter()
	}
	acked, err := l.write(ctx, l.DeadTopic, records)
	var first *rejected
	for i, is := range acked {
		if !is {
			left = append(left, dead[i])
			continue
		}
		l.metrics.deadLetters.WithLabelValues(dead[i].fault.reason).Inc()
		if first == nil {
			first = &dead[i]
		}
	}
	if first != nil {
		l.Log.WarnContext(ctx, "messages went to the dead topic", "messages", len(dead)-len(left), "topic", first.message.Topic,
			"partition", first.message.Partition, "offset", first.message.Offset, "reason", first.fault.reason, "error", first.fault.err)
	}
	return left, err
}
