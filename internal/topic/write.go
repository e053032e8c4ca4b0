package topic

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/segmentio/kafka-go/protocol/metadata"
	"github.com/segmentio/kafka-go/protocol/produce"
)

// maxBatch is the maximum size in bytes of a request's records for one partition. Brokers accept
// 1 MiB + 12 bytes by default (message.max.bytes), including headers and framing.
const maxBatch = 1000 << 10

// MaxValue is the maximum size of a written value in bytes. A message with its headers stays
// below the default limit of brokers.
const MaxValue = 900 << 10

// ErrTooLong is the error of a message that exceeds MaxValue or the limit of a request.
var ErrTooLong = errors.New("over-long")

// ErrPartial is the error of a write whose failure concerns some keys only: other messages
// can be written.
var ErrPartial = errors.New("some partitions cannot be written")

// lane has the records of one partition, in order.
type lane struct {
	partition int32
	leader    int32
	waiting   []int // indexes of unacknowledged records
	sending   int   // number of records, from the start of the field waiting, that this round sends
	limit     int   // maximum number of records in a request; 0 for no limit
	err       error
}

// Write writes messages to the topic, and spreads them by their key. It reports for each
// message whether all in-sync replicas have acknowledged it, even if Write returns an
// error. After a message that fails, Write acknowledges no later message with the same key.
// The error wraps [ErrTooLong] for a message beyond the limits, and [ErrPartial] if other
// partitions work. Write times out after Pace.Write. Messages in flight may then be in the
// topic, and a retry duplicates them.
func (c *Client) Write(ctx context.Context, messages []kafka.Message) (acked []bool, err error) {
	acked, err = c.write(ctx, c.Topic, messages)
	return acked, explain(err)
}

// write writes records to a topic. It reports for each record whether all in-sync replicas have
// acknowledged the record, even if write returns an error.
//
// write does not use kafka.Writer, which continues with a partition after a failed batch, so that
// later messages overtake earlier ones. kafka.Writer also sends after its caller has timed out, and
// delays batches by a timer. Here each leader gets one request at a time for all its partitions. A
// partition gets later records only after the earlier ones are acknowledged.
//
// A partition that is new or has a new leader rejects writes for a short time; write retries them.
func (c *Client) write(ctx context.Context, topic string, records []kafka.Message) (acked []bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.Pace.Write)
	defer cancel()
	acked = make([]bool, len(records))
	for pause := newBackoff(rejectRetry); ; {
		if err = c.writeOnce(ctx, topic, records, acked); err == nil {
			return acked, nil
		}
		// Without a leader, do not retry: the retries here would end before one is elected. Keep
		// the connections: they still work, and after metadataAge new leaders are read.
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

// writeOnce writes unacknowledged records and updates acked.
func (c *Client) writeOnce(ctx context.Context, topic string, records []kafka.Message, acked []bool) error {
	if err := c.makeTopics(ctx); err != nil {
		return err
	}
	partitions, err := c.partitions(ctx, topic)
	if err != nil {
		c.recheckTopics(err)
		return fmt.Errorf("reading the partitions of %s: %w", topic, err)
	}
	lanes, tooLong := c.assign(records, acked, partitions)
	for {
		requests := nextRound(records, lanes)
		if len(requests) == 0 {
			return batchError(tooLong, firstFault(lanes), partitions)
		}
		var sending sync.WaitGroup
		for _, request := range requests {
			sending.Go(func() { c.send(ctx, topic, records, request) })
		}
		sending.Wait()
		for _, request := range requests {
			for _, lane := range request {
				lane.endRound(acked)
				c.recheckTopics(lane.err)
			}
		}
	}
}

// recheckTopics makes makeTopics check the topics again if a broker lacks one.
func (c *Client) recheckTopics(err error) {
	if errors.Is(err, kafka.UnknownTopicOrPartition) {
		c.made.Store(false)
	}
}

// endRound marks the records that a round has written as acknowledged. If the broker rejected them
// as too large, endRound halves the number of records for the next round.
func (l *lane) endRound(acked []bool) {
	switch {
	case l.err == nil:
		for _, i := range l.waiting[:l.sending] {
			acked[i] = true
		}
		l.waiting = l.waiting[l.sending:]
	case errors.Is(l.err, kafka.MessageSizeTooLarge) && l.sending > 1:
		// A topic that the operator has created may have a limit below maxBatch.
		l.limit, l.err = l.sending/2, nil
	}
}

// firstFault returns the error of one lane, because the errors of lanes are mostly the same. The
// error is ErrNoLeader only if no lane has another error.
func firstFault(lanes []*lane) (err error) {
	for _, lane := range lanes {
		if lane.err != nil && (err == nil || errors.Is(err, ErrNoLeader)) {
			err = fmt.Errorf("partition %d: %w", lane.partition, lane.err)
		}
	}
	return err
}

// batchError returns the error of a batch. The error wraps ErrPartial if a partition has a
// leader and no request has failed, because messages with other keys can then be written.
func batchError(tooLong, fault error, partitions []metadata.ResponsePartition) error {
	led := slices.ContainsFunc(partitions, func(p metadata.ResponsePartition) bool { return p.ErrorCode == 0 })
	err := errors.Join(tooLong, fault)
	if err != nil && led && (fault == nil || errors.Is(fault, ErrNoLeader)) {
		return fmt.Errorf("%w: %w", ErrPartial, err)
	}
	return err
}

// partitions returns the partitions of a topic with their leaders. The transport caches them
// for metadataAge.
func (c *Client) partitions(ctx context.Context, topic string) ([]metadata.ResponsePartition, error) {
	reply, err := c.transport.RoundTrip(ctx, c.addr, &metadata.Request{TopicNames: []string{topic}})
	if err != nil {
		return nil, err
	}
	topics := reply.(*metadata.Response).Topics
	if len(topics) != 1 {
		return nil, kafka.UnknownTopicOrPartition
	}
	if code := topics[0].ErrorCode; code != 0 {
		return nil, kafka.Error(code)
	}
	if len(topics[0].Partitions) == 0 {
		return nil, kafka.UnknownTopicOrPartition
	}
	return topics[0].Partitions, nil
}

// assign assigns unacknowledged records to lanes by the murmur2 hash of their key, as
// Kafka's own clients do. It skips an over-long record and all later records with its key.
func (c *Client) assign(records []kafka.Message, acked []bool, partitions []metadata.ResponsePartition) (lanes []*lane, tooLong error) {
	numbers := make([]int, len(partitions))
	for i := range numbers {
		numbers[i] = i
	}
	byPartition := make([]*lane, len(partitions))
	held := map[string]bool{}
	for i, r := range records {
		if acked[i] || held[string(r.Key)] {
			continue
		}
		if size(r) > maxBatch || len(r.Value) > MaxValue {
			held[string(r.Key)] = true
			tooLong = errors.Join(tooLong, fmt.Errorf("a message of %d bytes with the key %q: %w", size(r), r.Key, ErrTooLong))
			continue
		}
		n := c.balancer.Balance(kafka.Message{Key: r.Key}, numbers...)
		if byPartition[n] == nil {
			byPartition[n] = &lane{partition: partitions[n].PartitionIndex, leader: partitions[n].LeaderID}
			if code := partitions[n].ErrorCode; code != 0 {
				byPartition[n].err = fmt.Errorf("%w: %w", ErrNoLeader, kafka.Error(code))
			}
			lanes = append(lanes, byPartition[n])
		}
		byPartition[n].waiting = append(byPartition[n].waiting, i)
	}
	return lanes, tooLong
}

// nextRound returns the lanes of one request for each leader. It sets how many records each
// lane sends, at most maxBatch bytes, and leaves out lanes with an error.
func nextRound(records []kafka.Message, lanes []*lane) map[int32][]*lane {
	requests := map[int32][]*lane{}
	for _, lane := range lanes {
		if lane.err != nil || len(lane.waiting) == 0 {
			continue
		}
		bytes := 0
		lane.sending = 0
		for _, i := range lane.waiting {
			if bytes += size(records[i]); lane.sending > 0 && (bytes > maxBatch || lane.sending == lane.limit) {
				break
			}
			lane.sending++
		}
		requests[lane.leader] = append(requests[lane.leader], lane)
	}
	return requests
}

// send writes the batches of lanes to their leader and sets the error of each lane.
func (c *Client) send(ctx context.Context, topic string, records []kafka.Message, lanes []*lane) {
	request := produce.RequestTopic{Topic: topic}
	for _, lane := range lanes {
		batch := make([]protocol.Record, lane.sending)
		for i, n := range lane.waiting[:lane.sending] {
			m := &records[n]
			batch[i] = protocol.Record{Key: protocol.NewBytes(m.Key), Value: protocol.NewBytes(m.Value), Headers: m.Headers}
		}
		request.Partitions = append(request.Partitions, produce.RequestPartition{
			Partition: lane.partition, RecordSet: protocol.RecordSet{Records: protocol.NewRecordReader(batch...)},
		})
	}
	reply, err := c.transport.RoundTrip(ctx, c.addr, &produce.Request{
		Acks:    int16(kafka.RequireAll),
		Timeout: int32((c.Pace.Write / 2).Milliseconds()), // timeout of the replicas; the rest is for the network
		Topics:  []produce.RequestTopic{request},
	})
	for _, lane := range lanes {
		if lane.err = err; err == nil {
			lane.err = outcome(reply.(*produce.Response), lane.partition)
		}
	}
}

// outcome returns the result of one partition in a reply.
func outcome(reply *produce.Response, partition int32) error {
	for _, topic := range reply.Topics {
		i := slices.IndexFunc(topic.Partitions, func(p produce.ResponsePartition) bool { return p.Partition == partition })
		if i < 0 {
			continue
		}
		if code := topic.Partitions[i].ErrorCode; code != 0 {
			return kafka.Error(code)
		}
		return nil
	}
	return errors.New("the broker's reply lacks the partition")
}
