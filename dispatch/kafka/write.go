package kafka

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

	"vayu/dispatch/outbox"
)

// mostBatch is how much is sent to a partition at once, bytes. A broker takes
// 1 MiB + 12 by default (message.max.bytes), headers and framing included.
const mostBatch = 1000 << 10

// lane is what goes to one partition, in order.
type lane struct {
	partition int32
	leader    int32
	waiting   []int // indexes of records
	sending   int   // of waiting, in this round
	most      int   // that may be sent at once; 0 for any number
	err       error
}

// write brings records to a topic and says which of them are on every replica
// that has to have them, also beside an error.
//
// It sends produce requests by itself: kafka.Writer goes on with a partition
// after one of its batches has failed, which lets a later event overtake, keeps
// sending when its caller has given up, and waits for a timer to send what it has.
// Here each leader gets one request for all of its partitions, and a partition's
// first failure is its last request.
//
// A partition that has just been made, or has just got another leader, refuses for
// a moment; what it refused is not in the log, and is sent again here.
func (l *Log) write(ctx context.Context, topic string, records []record) (acked []bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, l.pace.publish)
	defer cancel()
	acked = make([]bool, len(records))
	for pause := newBackoff(shortly); ; {
		if err = l.writeOnce(ctx, topic, records, acked); err == nil {
			return acked, nil
		}
		// Who has no leader will hardly have one in a moment. The connections are good,
		// and the transport asks for leaders by itself (metadataAge).
		if errors.Is(err, errNoLeader) {
			return acked, err
		}
		// What the transport knows of leaders, and the connections that it keeps, may
		// be those of before; the next attempt begins afresh.
		l.transport.CloseIdleConnections()
		if pause.next > shortlyMost || !isRefusal(err) || !pause.wait(ctx) {
			return acked, err
		}
	}
}

// shortly is the first pause before what was refused is sent again, and
// shortlyMost the last: 20 + 40 + 80 ms. A partition that is away for longer must
// not hold up the others.
const (
	shortly     = 20 * time.Millisecond
	shortlyMost = 80 * time.Millisecond
)

// isRefusal is whether a broker said that it has not kept what it was sent, and
// will perhaps soon.
func isRefusal(err error) bool {
	return slices.ContainsFunc([]kafka.Error{
		kafka.NotLeaderForPartition, kafka.LeaderNotAvailable, kafka.UnknownTopicOrPartition, kafka.NotEnoughReplicas,
	}, func(code kafka.Error) bool { return errors.Is(err, code) })
}

// errNoLeader is why nothing was sent to a partition: the brokers say that it has
// no leader.
var errNoLeader = errors.New("it has no leader at the moment")

// writeOnce sends what is not acknowledged, and notes what is then.
func (l *Log) writeOnce(ctx context.Context, topic string, records []record, acked []bool) error {
	if err := l.makeTopics(ctx); err != nil {
		return err
	}
	partitions, err := l.partitions(ctx, topic)
	if err != nil {
		l.doubt(err)
		return fmt.Errorf("asking for the partitions of %s: %w", topic, err)
	}
	lanes, tooLong := l.assign(records, acked, partitions)
	for {
		requests := nextRound(records, lanes)
		if len(requests) == 0 {
			return judged(tooLong, firstFault(lanes), partitions)
		}
		var sending sync.WaitGroup
		for _, request := range requests {
			sending.Go(func() { l.send(ctx, topic, records, request) })
		}
		sending.Wait()
		for _, request := range requests {
			for _, lane := range request {
				lane.settle(acked)
				l.doubt(lane.err)
			}
		}
	}
}

// doubt has the topics looked at again when a broker does not know one.
func (l *Log) doubt(err error) {
	if errors.Is(err, kafka.UnknownTopicOrPartition) {
		l.made.Store(false)
	}
}

// settle is the end of a round.
func (l *lane) settle(acked []bool) {
	switch {
	case l.err == nil:
		for _, i := range l.waiting[:l.sending] {
			acked[i] = true
		}
		l.waiting = l.waiting[l.sending:]
	case errors.Is(l.err, kafka.MessageSizeTooLarge) && l.sending > 1:
		// An operator's own topic may take less at once.
		l.most, l.err = l.sending/2, nil
	}
}

// firstFault is one for all: the others are mostly the same. That a partition has
// no leader comes last, because nothing can be done about it here.
func firstFault(lanes []*lane) (err error) {
	for _, lane := range lanes {
		if lane.err != nil && (err == nil || errors.Is(err, errNoLeader)) {
			err = fmt.Errorf("partition %d: %w", lane.partition, lane.err)
		}
	}
	return err
}

// judged is the fault of a batch: outbox.ErrSome where it is certain that other accounts could have their events written.
func judged(tooLong, fault error, partitions []metadata.ResponsePartition) error {
	led := slices.ContainsFunc(partitions, func(p metadata.ResponsePartition) bool { return p.ErrorCode == 0 })
	err := errors.Join(tooLong, fault)
	if err != nil && led && (fault == nil || errors.Is(fault, errNoLeader)) {
		return fmt.Errorf("%w: %w", outbox.ErrSome, err)
	}
	return err
}

// partitions are those of a topic by their number, with their leaders. The
// transport answers from memory, which is seconds old at most.
func (l *Log) partitions(ctx context.Context, topic string) ([]metadata.ResponsePartition, error) {
	reply, err := l.transport.RoundTrip(ctx, l.addr, &metadata.Request{TopicNames: []string{topic}})
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

// assign sorts records that are not acknowledged into lanes by the hash of their key, murmur2 as Kafka's
// own clients do it, so that others write to the same partition. An over-long
// record is left out, with all that follow of its key.
func (l *Log) assign(records []record, acked []bool, partitions []metadata.ResponsePartition) (lanes []*lane, tooLong error) {
	numbers := make([]int, len(partitions))
	for i := range numbers {
		numbers[i] = i
	}
	byPartition := make([]*lane, len(partitions))
	held := map[string]bool{}
	for i, r := range records {
		if acked[i] || held[string(r.key)] {
			continue
		}
		if r.size() > mostBatch || len(r.value) > mostEnvelope {
			held[string(r.key)] = true
			tooLong = errors.Join(tooLong, fmt.Errorf("a message of %d bytes with the key %q: %w", r.size(), r.key, ErrTooLong))
			continue
		}
		n := l.balancer.Balance(kafka.Message{Key: r.key}, numbers...)
		if byPartition[n] == nil {
			byPartition[n] = &lane{partition: partitions[n].PartitionIndex, leader: partitions[n].LeaderID}
			if code := partitions[n].ErrorCode; code != 0 {
				byPartition[n].err = fmt.Errorf("%w: %w", errNoLeader, kafka.Error(code))
			}
			lanes = append(lanes, byPartition[n])
		}
		byPartition[n].waiting = append(byPartition[n].waiting, i)
	}
	return lanes, tooLong
}

// nextRound is one request for each leader: of each lane that has not failed, as
// much as a broker takes at once.
func nextRound(records []record, lanes []*lane) map[int32][]*lane {
	requests := map[int32][]*lane{}
	for _, lane := range lanes {
		if lane.err != nil || len(lane.waiting) == 0 {
			continue
		}
		size := 0
		lane.sending = 0
		for _, i := range lane.waiting {
			if size += records[i].size(); lane.sending > 0 && (size > mostBatch || lane.sending == lane.most) {
				break
			}
			lane.sending++
		}
		requests[lane.leader] = append(requests[lane.leader], lane)
	}
	return requests
}

// send brings lanes to their leader, and leaves in each the error that it had.
func (l *Log) send(ctx context.Context, topic string, records []record, lanes []*lane) {
	request := produce.RequestTopic{Topic: topic}
	for _, lane := range lanes {
		batch := make([]protocol.Record, lane.sending)
		for i, n := range lane.waiting[:lane.sending] {
			batch[i] = records[n].wire()
		}
		request.Partitions = append(request.Partitions, produce.RequestPartition{
			Partition: lane.partition, RecordSet: protocol.RecordSet{Records: protocol.NewRecordReader(batch...)},
		})
	}
	reply, err := l.transport.RoundTrip(ctx, l.addr, &produce.Request{
		Acks:    int16(kafka.RequireAll),
		Timeout: int32((l.pace.publish / 2).Milliseconds()), // of the replicas; the rest is for the way
		Topics:  []produce.RequestTopic{request},
	})
	for _, lane := range lanes {
		if lane.err = err; err == nil {
			lane.err = outcome(reply.(*produce.Response), lane.partition)
		}
	}
}

// outcome is what a broker said about one partition.
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
	return errors.New("the broker did not answer for it")
}

// wire is a record as the protocol writes it.
func (r record) wire() protocol.Record {
	headers := make([]protocol.Header, len(r.headers))
	for i, h := range r.headers {
		headers[i] = protocol.Header{Key: h.key, Value: h.value}
	}
	out := protocol.Record{Headers: headers}
	if r.key != nil {
		out.Key = protocol.NewBytes(r.key)
	}
	if r.value != nil {
		out.Value = protocol.NewBytes(r.value)
	}
	return out
}
