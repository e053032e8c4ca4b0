package topic

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/segmentio/kafka-go"

	"vayu/internal/topic/broker"
)

const (
	// longPoll is how long a broker waits for a message before it sends an empty reply. So an
	// idle partition causes few requests, and messages are not delayed.
	longPoll = 5 * time.Second
	// answer limits the time for a reply. A read may take longPoll in addition.
	answer     = 5 * time.Second
	fetchBytes = 1 << 20
)

// partition reads one partition during a generation (the time between two rebalances).
type partition struct {
	*generation

	id          int
	offset      int64     // next offset; negative (kafka.FirstOffset) if the group has no offset
	beyondSince time.Time // when the offset was first beyond the end of the log; zero if it is not beyond
}

// fetch reads the partition until the generation (time between rebalances) is over. It reconnects
// after failures.
func (p *partition) fetch() {
	for pause := newBackoff(p.Pace.Retry); ; {
		before := p.offset
		err := p.visit()
		if p.over.Err() != nil {
			return
		}
		p.metrics.connectFailures.Inc()
		p.Config.Log.DebugContext(p.ctx, "reconnecting to a partition", "partition", p.id, "offset", p.offset, "error", err)
		if p.offset != before {
			pause = newBackoff(p.Pace.Retry)
		}
		if !pause.wait(p.over) {
			return
		}
	}
}

// visit reads the partition through one connection until the connection fails.
func (p *partition) visit() error {
	conn, err := p.open()
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // unread messages are fetched again
	// The end of the generation aborts blocked reads.
	defer context.AfterFunc(p.over, func() { _ = conn.Close() })()
	if err := p.begin(conn); err != nil {
		return err
	}
	return p.read(conn)
}

// open connects to the leader of the partition.
func (p *partition) open() (*kafka.Conn, error) {
	dialing, cancel := context.WithTimeout(p.over, broker.DialTimeout)
	defer cancel()
	dialer := p.conns.Dialer()
	var faults []error
	for _, broker := range p.Brokers {
		conn, err := dialer.DialLeader(dialing, "tcp", broker, p.Topic, p.id)
		if err == nil {
			return conn, nil
		}
		faults = append(faults, err)
	}
	return nil, fmt.Errorf("connecting to the leader of partition %d: %w", p.id, errors.Join(faults...))
}

// begin seeks the offset of the next message. If that message was deleted or the log was truncated,
// begin seeks the first offset. An offset beyond the end is an error at first (Pace.Truncation).
// begin may repeat messages, but skips no message that the log has.
func (p *partition) begin(conn *kafka.Conn) error {
	_ = conn.SetDeadline(time.Now().Add(answer))
	first, last, err := conn.ReadOffsets()
	if err != nil {
		return fmt.Errorf("reading the bounds of partition %d: %w", p.id, err)
	}
	_ = conn.SetDeadline(time.Time{})
	switch {
	case p.offset < 0:
		p.offset = first
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
	p.beyondSince = time.Time{}
	if _, err := conn.Seek(p.offset, kafka.SeekAbsolute|kafka.SeekDontCheck); err != nil {
		return fmt.Errorf("seeking offset %d of partition %d: %w", p.offset, p.id, err)
	}
	return nil
}

// read forwards messages until the connection fails or the generation is over.
func (p *partition) read(conn *kafka.Conn) error {
	for {
		_ = conn.SetReadDeadline(time.Now().Add(longPoll + answer))
		batch := conn.ReadBatchWith(kafka.ReadBatchConfig{MinBytes: 1, MaxBytes: fetchBytes, MaxWait: longPoll})
		err := p.forwardAll(conn, batch)
		if closed := batch.Close(); err == nil {
			err = closed
		}
		// A batch times out if the worker is slow. This is not a failure of the connection.
		if err != nil && !errors.Is(err, kafka.RequestTimedOut) {
			return fmt.Errorf("reading partition %d: %w", p.id, err)
		}
	}
}

// forwardAll sends the messages of a batch, in chunks, to the goroutine that processes them
// (the worker).
func (p *partition) forwardAll(conn *kafka.Conn, batch *kafka.Batch) error {
	var chunk []kafka.Message
	bytes := 0
	for {
		if bytes == 0 { // restart the deadline, which passed while the worker was busy
			_ = conn.SetReadDeadline(time.Now().Add(answer))
		}
		m, err := batch.ReadMessage()
		if err == nil {
			chunk, bytes = append(chunk, m), bytes+size(m)
		}
		if err != nil || bytes >= fetchBytes { // a compressed batch can be much longer than fetchBytes
			if err := p.forward(chunk); err != nil {
				return err
			}
			chunk, bytes = nil, 0
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// forward sends a chunk to the worker.
func (p *partition) forward(chunk []kafka.Message) error {
	if len(chunk) == 0 {
		return nil
	}
	select {
	case p.chunks <- chunk:
		p.offset = chunk[len(chunk)-1].Offset + 1
		return nil
	case <-p.over.Done():
		return p.over.Err()
	}
}
