package kafka

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

// settle is between two looks at a topic that is being made, and newborn is how
// long its leaders are waited for.
const (
	settle  = 50 * time.Millisecond
	newborn = 2 * time.Second
)

// makeTopics makes those of the two topics that are not there, once in the life
// of a Log, and again when a broker does not know one, because somebody may have
// deleted it. Topics that are there are left as they are, whatever their partitions
// are like: each partition that has a leader can be worked with.
func (l *Log) makeTopics(ctx context.Context) error {
	if l.made.Load() {
		return nil
	}
	transport := l.newTransport() // that of the writer may remember what was before
	transport.MetadataTTL = newborn / 4
	defer transport.CloseIdleConnections()
	client := &kafka.Client{Addr: l.addr, Transport: transport}
	var until time.Time
	for {
		missing, led, err := l.lookAtTopics(ctx, client)
		if err == nil && len(missing) > 0 {
			until = time.Now().Add(newborn)
			err = l.create(ctx, client, missing)
		}
		if err != nil {
			return fmt.Errorf("making the topics: %w", err)
		}
		if len(missing) == 0 && (led || !time.Now().Before(until)) {
			l.made.Store(true)
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for the topics: %w", ctx.Err())
		case <-time.After(settle):
		}
	}
}

// lookAtTopics returns which topics are not there, and whether every partition of
// those that are has a leader.
func (l *Log) lookAtTopics(ctx context.Context, client *kafka.Client) (missing []kafka.TopicConfig, led bool, err error) {
	reply, err := client.Metadata(ctx, &kafka.MetadataRequest{Topics: []string{l.Topic, l.DeadTopic}})
	if err != nil {
		return nil, false, err
	}
	led = true
	for _, topic := range reply.Topics {
		switch {
		case errors.Is(topic.Error, kafka.UnknownTopicOrPartition):
			missing = append(missing, l.newTopic(topic.Name))
		case topic.Error != nil && !isPassing(topic.Error):
			return nil, false, fmt.Errorf("topic %s: %w", topic.Name, topic.Error)
		case topic.Error != nil || !allLed(topic.Partitions):
			led = false
		}
		if topic.Error == nil && len(topic.Partitions) > 0 {
			l.compare(ctx, client, topic)
		}
	}
	return missing, led, nil
}

// create makes topics, unless another instance was quicker.
func (l *Log) create(ctx context.Context, client *kafka.Client, missing []kafka.TopicConfig) error {
	created, err := client.CreateTopics(ctx, &kafka.CreateTopicsRequest{Topics: missing})
	if err != nil {
		return err
	}
	for name, err := range created.Errors {
		if err != nil && !errors.Is(err, kafka.TopicAlreadyExists) {
			return fmt.Errorf("topic %s of %d replicas: %w", name, l.Replicas, err)
		}
	}
	return nil
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

func allLed(partitions []kafka.Partition) bool {
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
