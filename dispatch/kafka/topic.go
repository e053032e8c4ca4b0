package kafka

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/segmentio/kafka-go"
)

// retention is how long the topics that Vayu creates keep messages. Finished deliveries are kept
// for the same time. If no dispatcher runs for longer, events are lost.
const retention = 30 * 24 * time.Hour

const (
	pollTopic  = 50 * time.Millisecond // interval of checks of a topic that is being created
	leaderWait = 2 * time.Second       // how long to wait for the leaders of a new topic
)

// makeTopics creates missing topics and does not change existing ones. After a success it does
// nothing until a broker reports a topic as unknown, because the topic may have been deleted. It
// waits for the leaders of new topics, but only for leaderWait: each led partition is usable.
func (l *Log) makeTopics(ctx context.Context) error {
	if l.made.Load() {
		return nil
	}
	transport := l.newTransport() // the transport of the writer may have stale metadata
	transport.MetadataTTL = leaderWait / 4
	defer transport.CloseIdleConnections()
	client := &kafka.Client{Addr: l.addr, Transport: transport}
	var until time.Time
	for {
		missing, led, err := l.checkTopics(ctx, client)
		if err == nil && len(missing) > 0 {
			until = time.Now().Add(leaderWait)
			err = l.create(ctx, client, missing)
		}
		if err != nil {
			return fmt.Errorf("creating the topics: %w", err)
		}
		if len(missing) == 0 && (led || !time.Now().Before(until)) {
			l.made.Store(true)
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for the topics: %w", ctx.Err())
		case <-time.After(pollTopic):
		}
	}
}

// checkTopics returns the missing topics, and whether every partition of the existing topics
// has a leader.
func (l *Log) checkTopics(ctx context.Context, client *kafka.Client) (missing []kafka.TopicConfig, led bool, err error) {
	reply, err := client.Metadata(ctx, &kafka.MetadataRequest{Topics: []string{l.Topic, l.DeadTopic}})
	if err != nil {
		return nil, false, err
	}
	led = true
	for _, topic := range reply.Topics {
		switch {
		case errors.Is(topic.Error, kafka.UnknownTopicOrPartition):
			missing = append(missing, l.newTopic(topic.Name))
		case topic.Error != nil && !isTemporary(topic.Error):
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

// create creates topics. It ignores topics that another instance has created meanwhile.
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
			// Of two or more replicas, one may fail. An event must be on all others to be durable.
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

func isTemporary(err error) bool {
	code, ok := errors.AsType[kafka.Error](err)
	return ok && code.Temporary()
}
