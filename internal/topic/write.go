package topic

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"
)

// maxBatch is the maximum size in bytes of a request's records. Brokers accept 1 MiB + 12 bytes by
// default (message.max.bytes), including headers and framing.
const maxBatch = 1000 << 10

// ErrPartial is the error of a write that failed only for partitions without a leader. Other partitions work.
var ErrPartial = errors.New("some partitions cannot be written")

// Write writes messages to the topic. The key of a message determines its partition. Write reports for each message
// whether all in-sync replicas have acknowledged it, even if Write returns an error. If a message fails, no later
// message with the same key is acknowledged. The error wraps [ErrPartial] if messages with other keys can be written.
// Write times out after Pace.Write. Messages in flight may then be in the topic, and a retry duplicates them.
func (c *Client) Write(ctx context.Context, messages []kafka.Message) (acked []bool, err error) {
	acked, err = c.write(ctx, c.Topic, messages)
	return acked, explain(err)
}

// write writes records to a topic. It reports for each record whether all in-sync replicas have acknowledged the
// record, even if write returns an error.
//
// write does not use kafka.Writer, which continues with a partition after a failed batch, so that later messages
// overtake earlier ones. kafka.Writer also sends after its caller has timed out, and delays batches by a timer.
//
// A partition that is new or has a new leader rejects writes for a short time. write retries such writes (maxRejected).
func (c *Client) write(ctx context.Context, topic string, records []kafka.Message) (acked []bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.Pace.Write)
	defer cancel()
	acked = make([]bool, len(records))
	for pause := newBackoff(rejectRetry); ; {
		if err = c.writeOnce(ctx, topic, records, acked); err == nil {
			return acked, nil
		}
		// Do not retry without a leader: the few retries here would end before a leader is elected. Do not close the
		// connections: they still work, and the client reads new leaders after metadataAge.
		if errors.Is(err, ErrNoLeader) {
			return acked, err
		}
		// Cached leaders and connections may be stale, so retry with new ones.
		c.transport.CloseIdleConnections()
		if pause.failures == maxRejected || !isRejected(err) || !pause.wait(ctx) {
			return acked, err
		}
	}
}

// rejectRetry and maxRejected bound the retries of a rejected write: after 20, 40 and 80 ms. A
// partition that rejects writes for longer must not delay other partitions.
const (
	rejectRetry = 20 * time.Millisecond
	maxRejected = 3
)

// size returns an upper bound of the encoded size of a message in bytes.
func size(m kafka.Message) int {
	n := len(m.Key) + len(m.Value) + 40
	for _, h := range m.Headers {
		n += len(h.Key) + len(h.Value) + 10
	}
	return n
}

// isRejected reports whether a broker has rejected a write that may succeed when retried soon.
func isRejected(err error) bool {
	return slices.ContainsFunc([]kafka.Error{
		kafka.NotLeaderForPartition, kafka.LeaderNotAvailable, kafka.UnknownTopicOrPartition, kafka.NotEnoughReplicas,
	}, func(code kafka.Error) bool { return errors.Is(err, code) })
}

// ErrNoLeader is the error of a partition without a leader, to which nothing was sent.
var ErrNoLeader = errors.New("the partition has no leader")

// writeOnce writes unacknowledged records, to all partitions at the same time, and updates the slice `acked`.
func (c *Client) writeOnce(ctx context.Context, topic string, records []kafka.Message, acked []bool) error {
	if err := c.makeTopics(ctx); err != nil {
		return err
	}
	partitions, err := c.partitions(ctx, topic)
	if err != nil {
		c.recheckTopics(err)
		return fmt.Errorf("reading the partitions of %s: %w", topic, err)
	}
	byPartition := c.assign(records, acked, len(partitions))
	faults := make([]error, len(partitions))
	var writing sync.WaitGroup
	for id, indexes := range byPartition {
		writing.Go(func() {
			if err := partitions[id].Error; err != nil {
				faults[id] = fmt.Errorf("%w: %w", ErrNoLeader, err)
				return
			}
			faults[id] = c.writePartition(ctx, topic, id, records, indexes, acked)
		})
	}
	writing.Wait()
	for _, err := range faults {
		c.recheckTopics(err)
	}
	return batchError(faults, partitions)
}

// recheckTopics makes the next call of makeTopics check the topics again, if err means that a broker lacks a topic.
func (c *Client) recheckTopics(err error) {
	if errors.Is(err, kafka.UnknownTopicOrPartition) {
		c.made.Store(false)
	}
}

// batchError returns the error of a write, from the errors of its partitions. The error wraps ErrPartial if a partition
// has a leader and no request has failed, because messages with other keys can then be written.
func batchError(faults []error, partitions []kafka.Partition) (fault error) {
	partial := slices.ContainsFunc(partitions, func(p kafka.Partition) bool { return p.Error == nil })
	for id, err := range faults {
		if err == nil {
			continue
		}
		partial = partial && errors.Is(err, ErrNoLeader)
		if fault == nil || !errors.Is(err, ErrNoLeader) { // report one error, because most partitions have the same error
			fault = fmt.Errorf("partition %d: %w", id, err)
		}
	}
	if fault != nil && partial {
		return fmt.Errorf("%w: %w", ErrPartial, fault)
	}
	return fault
}

// partitions returns the partitions of a topic in the order of their ids. The transport caches them for metadataAge.
func (c *Client) partitions(ctx context.Context, topic string) ([]kafka.Partition, error) {
	reply, err := c.client.Metadata(ctx, &kafka.MetadataRequest{Topics: []string{topic}})
	switch {
	case err != nil:
		return nil, err
	case len(reply.Topics) != 1:
		return nil, kafka.UnknownTopicOrPartition
	case reply.Topics[0].Error != nil:
		return nil, reply.Topics[0].Error
	case len(reply.Topics[0].Partitions) == 0:
		return nil, kafka.UnknownTopicOrPartition
	}
	return reply.Topics[0].Partitions, nil
}

// assign returns, for each partition, the indexes of its unacknowledged records. The murmur2 hash of the key selects
// the partition, as in Kafka's own clients.
func (c *Client) assign(records []kafka.Message, acked []bool, partitions int) map[int][]int {
	ids := make([]int, partitions)
	for i := range ids {
		ids[i] = i
	}
	byPartition := map[int][]int{}
	for i, r := range records {
		if !acked[i] {
			id := c.balancer.Balance(kafka.Message{Key: r.Key}, ids...)
			byPartition[id] = append(byPartition[id], i)
		}
	}
	return byPartition
}

// writePartition writes the records of a partition in their order. It sends a request only after the previous
// request is acknowledged.
func (c *Client) writePartition(ctx context.Context, topic string, id int, records []kafka.Message, waiting []int, acked []bool) error {
	most := len(waiting)
	for len(waiting) > 0 {
		var batch []kafka.Record
		bytes := 0
		for _, i := range waiting[:min(most, len(waiting))] {
			m := &records[i]
			if bytes += size(*m); len(batch) > 0 && bytes > maxBatch {
				break
			}
			batch = append(batch, kafka.Record{Key: kafka.NewBytes(m.Key), Value: kafka.NewBytes(m.Value), Headers: m.Headers})
		}
		reply, err := c.client.Produce(ctx, &kafka.ProduceRequest{
			Topic: topic, Partition: id, RequiredAcks: kafka.RequireAll, Records: kafka.NewRecordReader(batch...),
		})
		if err == nil {
			err = reply.Error
		}
		switch {
		case errors.Is(err, kafka.MessageSizeTooLarge) && len(batch) > 1:
			most = len(batch) / 2 // a topic that the operator has created may have a limit below maxBatch
			continue
		case err != nil:
			return err
		}
		for _, i := range waiting[:len(batch)] {
			acked[i] = true
		}
		waiting = waiting[len(batch):]
	}
	return nil
}
