package topic

import (
	"context"
	"slices"
	"strconv"

	"github.com/segmentio/kafka-go"
)

// Headers that a dead letter has in addition to the headers of the original message and [Dead.Headers].
const (
	HeaderReason    = "dead-reason" // an element of Config.Reasons
	HeaderFault     = "dead-fault"  // error text
	HeaderTopic     = "dead-topic"  // original topic
	HeaderPartition = "dead-partition"
	HeaderOffset    = "dead-offset"
	HeaderLength    = "dead-length" // number of bytes cut off; absent if none
)

// Limits of the parts of a dead letter, in bytes. Together they are below maxBatch.
const (
	keptText  = 1 << 10 // of the key and the error
	keptValue = 900 << 10
)

// Dead is a message that cannot be processed. It goes to the dead topic.
type Dead struct {
	Message kafka.Message
	Reason  string // an element of Config.Reasons
	Err     error
	Headers []kafka.Header // short headers in addition to those of Message
}

// letter returns the message for the dead topic: the original message with headers for the error and the origin. If the
// original message is larger than keptValue, letter removes its headers, and cuts its key and its value.
func (d Dead) letter() kafka.Message {
	m := d.Message
	before := size(m)
	if before > keptValue {
		m.Headers, m.Key, m.Value = nil, m.Key[:min(len(m.Key), keptText)], m.Value[:min(len(m.Value), keptValue)]
	}
	cut := before - size(m)
	text := d.Err.Error()
	m.Headers = append(
		slices.Clip(m.Headers),
		kafka.Header{Key: HeaderReason, Value: []byte(d.Reason)},
		kafka.Header{Key: HeaderFault, Value: []byte(text[:min(len(text), keptText)])},
		kafka.Header{Key: HeaderTopic, Value: []byte(m.Topic)},
		kafka.Header{Key: HeaderPartition, Value: strconv.AppendInt(nil, int64(m.Partition), 10)},
		kafka.Header{Key: HeaderOffset, Value: strconv.AppendInt(nil, m.Offset, 10)},
	)
	m.Headers = append(m.Headers, d.Headers...)
	if cut > 0 {
		m.Headers = append(m.Headers, kafka.Header{Key: HeaderLength, Value: strconv.AppendInt(nil, int64(cut), 10)})
	}
	return m
}

// writeDead writes messages to the dead topic. It returns the messages that were not acknowledged.
func (c *Client) writeDead(ctx context.Context, dead []Dead) (left []Dead, err error) {
	records := make([]kafka.Message, len(dead))
	for i, d := range dead {
		records[i] = d.letter()
	}
	acked, err := c.write(ctx, c.DeadTopic, records)
	var first *Dead
	for i, is := range acked {
		if !is {
			left = append(left, dead[i])
			continue
		}
		c.metrics.deadLetters.WithLabelValues(dead[i].Reason).Inc()
		if first == nil {
			first = &dead[i]
		}
	}
	if first != nil {
		c.Config.Log.WarnContext(ctx, "messages went to the dead topic", "messages", len(dead)-len(left), "topic", first.Message.Topic,
			"partition", first.Message.Partition, "offset", first.Message.Offset, "reason", first.Reason, "error", first.Err)
	}
	return left, err
}
