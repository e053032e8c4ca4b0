package kafka

import (
	"context"
	"errors"
	"strconv"

	"github.com/segmentio/kafka-go"

	"vayu/dispatch/outbox"
)

// Headers that are added to a dead letter.
const (
	headerReason    = "dead-reason" // one of reasons
	headerFault     = "dead-fault"  // error text
	headerTopic     = "dead-topic"  // original topic
	headerPartition = "dead-partition"
	headerOffset    = "dead-offset"
	headerLength    = "dead-length" // bytes cut off because they exceed the limit of brokers
)

// Limits of the parts of a dead letter, in bytes. With maxEnvelope they are below maxBatch.
const (
	keptKey     = 1 << 10
	keptFault   = 1 << 10
	keptHeaders = 64 << 10
)

// rejected is a message that goes to the dead topic, and why.
type rejected struct {
	message kafka.Message
	fault   fault
}

// decodeBatch decodes messages into events and rejected messages.
func decodeBatch(messages []kafka.Message) (events []outbox.Event, of []kafka.Message, dead []rejected) {
	for _, m := range messages {
		read := decode(fromWire(m))
		if read.Fault == nil {
			events, of = append(events, read.Event), append(of, m)
			continue
		}
		why, ok := errors.AsType[fault](read.Fault)
		if !ok {
			why = fault{reasonRefused, read.Fault}
		}
		dead = append(dead, rejected{m, why})
	}
	return events, of, dead
}

func fromWire(m kafka.Message) record {
	r := record{key: m.Key, value: m.Value, headers: make([]header, len(m.Headers))}
	for i, h := range m.Headers {
		r.headers[i] = header{h.Key, h.Value}
	}
	return r
}

// refusal returns the fault of an event that the function Process has rejected.
func refusal(err error) fault {
	if err == nil {
		err = errors.New("no reason was given")
	}
	return fault{reasonRefused, err}
}

// deadLetter returns the record for the dead topic: the message, cut to the limit of a
// broker, with its error and origin.
func (d rejected) deadLetter() record {
	r := fromWire(d.message)
	cut := len(r.key) + len(r.value)
	r.key, r.value = r.key[:min(len(r.key), keptKey)], r.value[:min(len(r.value), maxEnvelope)]
	cut -= len(r.key) + len(r.value)
	size, kept := 0, 0
	for _, h := range r.headers {
		if size += len(h.key) + len(h.value) + 10; size > keptHeaders {
			break
		}
		kept++
	}
	for _, h := range r.headers[kept:] {
		cut += len(h.key) + len(h.value)
	}
	text := d.fault.Error()
	r.headers = append(
		r.headers[:kept:kept],
		header{headerReason, []byte(d.fault.reason)},
		header{headerFault, []byte(text[:min(len(text), keptFault)])},
		header{headerTopic, []byte(d.message.Topic)},
		header{headerPartition, strconv.AppendInt(nil, int64(d.message.Partition), 10)},
		header{headerOffset, strconv.AppendInt(nil, d.message.Offset, 10)},
	)
	if cut > 0 {
		r.headers = append(r.headers, header{headerLength, strconv.AppendInt(nil, int64(cut), 10)})
	}
	return r
}

// writeDead writes messages to the dead topic and returns those that were not
// acknowledged.
func (l *Log) writeDead(ctx context.Context, dead []rejected) (left []rejected, err error) {
	records := make([]record, len(dead))
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
