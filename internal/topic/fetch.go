package topic

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/segmentio/kafka-go"
)

const (
	// longPoll is how long a broker waits for a message before it sends an empty reply. An idle partition thus causes
	// few requests, and a new message is sent at once.
	longPoll   = requestTimeout / 2
	fetchBytes = 1 << 20
)

// partition reads one partition during a generation (the time between two rebalances).
type partition struct {
	*generation

	id          int
	offset      int64     // next offset; negative (kafka.FirstOffset) if the group has no offset
	beyondSince time.Time // when the offset was first beyond the end of the log; zero if it is not beyond
}

// run reads the partition until the generation is over. It retries after failures.
func (p *partition) run() {
	for pause := newBackoff(p.Pace.Retry); p.over.Err() == nil; {
		err := p.fetch()
		if errors.Is(err, kafka.OffsetOutOfRange) {
			err = p.reset()
		}
		switch {
		case p.over.Err() != nil:
			return
		case err == nil:
			pause = newBackoff(p.Pace.Retry)
			continue
		}
		p.metrics.connectFailures.Inc()
		p.Config.Log.DebugContext(p.ctx, "fetching messages", "partition", p.id, "offset", p.offset, "error", err)
		pause.wait(p.over)
	}
}

// fetch reads and forwards the next messages.
func (p *partition) fetch() error {
	reply, err := p.fetcher.Fetch(p.over, &kafka.FetchRequest{
		Topic: p.Topic, Partition: p.id, Offset: p.offset, MinBytes: 1, MaxBytes: fetchBytes, MaxWait: longPoll,
	})
	if err == nil {
		err = reply.Error
	}
	if err != nil {
		return fmt.Errorf("fetching from partition %d: %w", p.id, err)
	}
	p.beyondSince = time.Time{}
	var messages []kafka.Message
	bytes := 0
	for {
		record, err := reply.Records.ReadRecord()
		if errors.Is(err, io.EOF) {
			return p.forward(messages)
		}
		if err == nil && record.Offset < p.offset {
			continue // the first batch of a reply may begin before the offset
		}
		var m kafka.Message
		if err == nil {
			m, err = p.message(record)
		}
		if err != nil {
			return fmt.Errorf("reading a message of partition %d: %w", p.id, err)
		}
		messages, bytes = append(messages, m), bytes+size(m)
		if bytes >= fetchBytes { // a compressed batch can be much longer when unpacked
			if err := p.forward(messages); err != nil {
				return err
			}
			messages, bytes = nil, 0
		}
	}
}

// forward sends messages to the goroutine that processes them, and moves the offset behind them.
func (p *partition) forward(messages []kafka.Message) error {
	if len(messages) == 0 {
		return nil
	}
	select {
	case p.fetched <- messages:
		p.offset = messages[len(messages)-1].Offset + 1
		return nil
	case <-p.over.Done():
		return p.over.Err()
	}
}

func (p *partition) message(record *kafka.Record) (kafka.Message, error) {
	key, err := kafka.ReadAll(record.Key)
	if err != nil {
		return kafka.Message{}, err
	}
	value, err := kafka.ReadAll(record.Value)
	return kafka.Message{Topic: p.Topic, Partition: p.id, Offset: record.Offset, Time: record.Time, Key: key, Value: value, Headers: record.Headers}, err
}

// reset corrects an offset outside of the log. If the next message was deleted, reset sets the offset to the first
// message. An offset beyond the end is an error at first. After Pace.Truncation, reset concludes that the log was
// truncated, and sets the offset to the first message. Messages are then repeated, but none in the log is skipped.
func (p *partition) reset() error {
	reply, err := p.fetcher.ListOffsets(p.over, &kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{
		p.Topic: {kafka.FirstOffsetOf(p.id), kafka.LastOffsetOf(p.id)},
	}})
	if err == nil && len(reply.Topics[p.Topic]) == 0 {
		err = kafka.UnknownTopicOrPartition
	} else if err == nil {
		err = reply.Topics[p.Topic][0].Error
	}
	if err != nil {
		return fmt.Errorf("reading the bounds of partition %d: %w", p.id, err)
	}
	first, last := reply.Topics[p.Topic][0].FirstOffset, reply.Topics[p.Topic][0].LastOffset
	switch {
	case p.offset < first:
		p.metrics.resets.WithLabelValues(resetExpired).Inc()
		p.Config.Log.ErrorContext(p.ctx, "messages were deleted from the topic before they were consumed",
			"topic", p.Topic, "partition", p.id, "messages", first-p.offset)
		p.offset = first
	case p.offset > last:
		if p.beyondSince.IsZero() {
			p.beyondSince = time.Now()
		}
		if time.Since(p.beyondSince) < p.Pace.Truncation {
			return fmt.Errorf("offset %d of partition %d is beyond the end of the log at %d", p.offset, p.id, last)
		}
		p.metrics.resets.WithLabelValues(resetTruncated).Inc()
		p.Config.Log.ErrorContext(p.ctx, "the topic was truncated; the rest is consumed again",
			"topic", p.Topic, "partition", p.id, "messages", p.offset-last)
		p.offset = first
	}
	return nil
}
