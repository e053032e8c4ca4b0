package eventlog

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/segmentio/kafka-go"
)

// retention is how long a topic that is made here keeps its messages: as long as
// finished deliveries are kept. Dispatchers that stand still for longer lose
// events, and the lag has said so for a month.
const retention = 30 * 24 * time.Hour

// settle is between two looks at a topic that is being made.
const settle = 50 * time.Millisecond

// makeTopics makes those of the two topics that are not there, once in the life
// of a Log, and again when the writer failed, because somebody may have deleted
// one. Topics that are there are left as they are.
func (l *Log) makeTopics(ctx context.Context) error {
	for !l.made.Load() {
		// A transport of its own looks afresh; that of the writer remembers.
		ready, err := l.lookAtTopics(ctx)
		if err != nil {
			return fmt.Errorf("making the topics: %w", err)
		}
		if ready {
			l.made.Store(true)
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for the topics: %w", ctx.Err())
		case <-time.After(settle):
		}
	}
	return nil
}

// lookAtTopics creates what is missing, and says whether every partition of both
// topics has a leader.
func (l *Log) lookAtTopics(ctx context.Context) (ready bool, err error) {
	transport := l.newTransport()
	defer transport.CloseIdleConnections()
	client := &kafka.Client{Addr: l.addr, Transport: transport}
	reply, err := client.Metadata(ctx, &kafka.MetadataRequest{Topics: []string{l.Topic, l.DeadTopic}})
	if err != nil {
		return false, err
	}
	ready = true
	var missing []kafka.TopicConfig
	for _, topic := range reply.Topics {
		switch {
		case errors.Is(topic.Error, kafka.UnknownTopicOrPartition):
			missing = append(missing, l.newTopic(topic.Name))
		case topic.Error != nil && !isPassing(topic.Error):
			return false, fmt.Errorf("topic %s: %w", topic.Name, topic.Error)
		case topic.Error != nil || !led(topic.Partitions):
			ready = false
		default:
			l.compare(ctx, client, topic)
		}
	}
	if len(missing) == 0 {
		return ready, nil
	}
	created, err := client.CreateTopics(ctx, &kafka.CreateTopicsRequest{Topics: missing})
	if err != nil {
		return false, err
	}
	for name, err := range created.Errors {
		if err != nil && !errors.Is(err, kafka.TopicAlreadyExists) { // another instance was quicker
			return false, fmt.Errorf("topic %s of %d replicas: %w", name, l.Replicas, err)
		}
	}
	return false, nil
}

func (l *Log) newTopic(name string) kafka.TopicConfig {
	return kafka.TopicConfig{
		Topic: name, NumPartitions: l.Partitions, ReplicationFactor: l.Replicas,
		ConfigEntries: []kafka.ConfigEntry{
			{ConfigName: "cleanup.policy", ConfigValue: "delete"},
			{ConfigName: "retention.ms", ConfigValue: strconv.FormatInt(retention.Milliseconds(), 10)},
			// One replica may be away; an event that is on one alone is not safe.
			{ConfigName: "min.insync.replicas", ConfigValue: strconv.Itoa(max(1, l.Replicas-1))},
		},
	}
}

func led(partitions []kafka.Partition) bool {
	for _, p := range partitions {
		if p.Error != nil || p.Leader.Host == "" {
			return false
		}
	}
	return len(partitions) > 0
}

// isPassing is whether a broker says that it will answer otherwise soon.
func isPassing(err error) bool {
	code, ok := errors.AsType[kafka.Error](err)
	return ok && code.Temporary()
}
