package kafka

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/segmentio/kafka-go"
)

// How a partition is read. A broker answers at the first byte, and after longPoll
// where there is none: that many requests keep an idle partition, and none of them
// delays a message.
const (
	longPoll   = 5 * time.Second
	answer     = 5 * time.Second // that a broker may need beyond
	fetchBytes = 1 << 20
)

// partition is one that this member reads in a generation.
type partition struct {
	*generation

	id     int
	offset int64     // of the next message; kafka.FirstOffset where the group has no place yet
	behind time.Time // since when the offset is behind the end of the log; zero for never
}

// fetch reads until the generation is over. A connection that is lost is made
// again.
func (p *partition) fetch() {
	for pause := newBackoff(p.pace.retry); ; {
		before := p.offset
		err := p.visit()
		if p.over.Err() != nil {
			return
		}
		p.metrics.connectFailures.Inc()
		p.Config.Log.DebugContext(p.ctx, "a partition is opened again", "partition", p.id, "offset", p.offset, "error", err)
		if p.offset != before {
			pause = newBackoff(p.pace.retry)
		}
		if !pause.wait(p.over) {
			return
		}
	}
}

// visit reads through one connection until it fails.
func (p *partition) visit() error {
	conn, err := p.open()
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // what it had is read, or comes again
	// The end of the generation wakes up who waits for an answer.
	defer context.AfterFunc(p.over, func() { _ = conn.Close() })()
	if err := p.begin(conn); err != nil {
		return err
	}
	return p.read(conn)
}

// open connects to the leader of the partition.
func (p *partition) open() (*kafka.Conn, error) {
	dialing, cancel := context.WithTimeout(p.over, dialTimeout)
	defer cancel()
	dialer := p.door.dialer()
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

// begin sets a connection to the offset. An offset that is not in the log any more
// becomes the first that is, which may read messages again and skips none that is
// there.
func (p *partition) begin(conn *kafka.Conn) error {
	_ = conn.SetDeadline(time.Now().Add(answer))
	first, last, err := conn.ReadOffsets()
	if err != nil {
		return fmt.Errorf("asking for the bounds of partition %d: %w", p.id, err)
	}
	_ = conn.SetDeadline(time.Time{})
	switch {
	case p.offset < 0:
		p.offset = first
	case p.offset < first:
		p.metrics.resets.WithLabelValues(resetExpired).Inc()
		p.Config.Log.ErrorContext(p.ctx, "events were deleted from the log before they were read",
			"partition", p.id, "messages", first-p.offset)
		p.offset = first
	case p.offset > last:
		if p.behind.IsZero() {
			p.behind = time.Now()
		}
		if time.Since(p.behind) < p.pace.truncation {
			return fmt.Errorf("offset %d of partition %d is behind the end of the log at %d", p.offset, p.id, last)
		}
		p.metrics.resets.WithLabelValues(resetTruncated).Inc()
		p.Config.Log.ErrorContext(p.ctx, "the log has lost its end; what is left of it is read again",
			"partition", p.id, "messages", p.offset-last)
		p.offset = first
	}
	p.behind = time.Time{}
	if _, err := conn.Seek(p.offset, kafka.SeekAbsolute|kafka.SeekDontCheck); err != nil {
		return fmt.Errorf("seeking offset %d of partition %d: %w", p.offset, p.id, err)
	}
	return nil
}

// read hands on messages until the connection fails or the generation is over.
func (p *partition) read(conn *kafka.Conn) error {
	for {
		_ = conn.SetReadDeadline(time.Now().Add(longPoll + answer))
		batch := conn.ReadBatchWith(kafka.ReadBatchConfig{MinBytes: 1, MaxBytes: fetchBytes, MaxWait: longPoll})
		err := p.handOn(conn, batch)
		if closed := batch.Close(); err == nil {
			err = closed
		}
		// The time-out is that of a batch whose reader kept it waiting.
		if err != nil && !errors.Is(err, kafka.RequestTimedOut) {
			return fmt.Errorf("reading partition %d: %w", p.id, err)
		}
	}
}

// handOn hands on the messages of a batch.
func (p *partition) handOn(conn *kafka.Conn, batch *kafka.Batch) error {
	for {
		_ = conn.SetReadDeadline(time.Now().Add(answer)) // it did not run while nobody wanted the message
		m, err := batch.ReadMessage()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		select {
		case p.messages <- m:
			p.offset = m.Offset + 1
		case <-p.over.Done():
			return p.over.Err()
		}
	}
}
