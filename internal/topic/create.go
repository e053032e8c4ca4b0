package topic

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/segmentio/kafka-go"
)

// retention is how long the topics that Vayu creates keep messages. Finished deliveries are kept
// for the same time. If no consumer runs for longer, messages are lost.
const retention = 30 * 24 * time.Hour

const (
	pollTopic  = 50 * time.Millisecond // interval of checks of a topic that is being created
	leaderWait = 2 * time.Second       // how long to wait for the leaders of a new topic
)

// Create creates the topic and the dead topic if they are missing. Write and Consume call it.
// It does not change existing topics, and warns if they are smaller than set.
func (c *Client) Create(ctx context.Context) error {
	c.made.Store(false)
	return c.makeTopics(ctx)
}

// makeTopics creates missing topics and does not change existing ones. After a success it does
// nothing until a broker reports a topic as unknown, because the topic may have been deleted. It
// waits for the leaders of new topics, but only for leaderWait: each led partition is usable.
func (c *Client) makeTopics(ctx context.Context) error {
	if c.made.Load() {
		return nil
	}
	transport := c.newTransport() // the transport of the writer may have stale metadata
	transport.MetadataTTL = leaderWait / 4
	defer transport.CloseIdleConnections()
	client := &kafka.Client{Addr: c.addr, Transport: transport}
	var until time.Time
	for {
		missing, led, err := c.checkTopics(ctx, client)
		if err == nil && len(missing) > 0 {
			until = time.Now().Add(leaderWait)
			err = c.create(ctx, client, missing)
		}
		if err != nil {
			return fmt.Errorf("creating the topics: %w", err)
		}
		if len(missing) == 0 && (led || !time.Now().Before(until)) {
			c.made.Store(true)
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
func (c *Client) checkTopics(ctx context.Context, client *kafka.Client) (missing []kafka.TopicConfig, led bool, err error) {
	reply, err := client.Metadata(ctx, &kafka.MetadataRequest{Topics: []string{c.Topic, c.DeadTopic}})
	if err != nil {
		return nil, false, err
	}
	led = true
	for _, topic := range reply.Topics {
		switch {
		case errors.Is(topic.Error, kafka.UnknownTopicOrPartition):
			missing = append(missing, c.newTopic(topic.Name))
		case topic.Error != nil && !isTemporary(topic.Error):
			return nil, false, fmt.Errorf("topic %s: %w", topic.Name, topic.Error)
		case topic.Error != nil || !allLed(topic.Partitions):
			led = false
		}
		if topic.Error == nil && len(topic.Partitions) > 0 {
			c.compare(ctx, client, topic)
		}
	}
	return missing, led, nil
}

// create creates topics. It ignores topics that another instance has created meanwhile.
func (c *Client) create(ctx context.Context, client *kafka.Client, missing []kafka.TopicConfig) error {
	created, err := client.CreateTopics(ctx, &kafka.CreateTopicsRequest{Topics: missing})
	if err != nil {
		return err
	}
	for name, err := range created.Errors {
		if err != nil && !errors.Is(err, kafka.TopicAlreadyExists) {
			return fmt.Errorf("topic %s of %d replicas: %w", name, c.Replicas, err)
		}
	}
	return nil
}

func (c *Client) newTopic(name string) kafka.TopicConfig {
	return kafka.TopicConfig{
		Topic: name, NumPartitions: c.Partitions, ReplicationFactor: c.Replicas,
		ConfigEntries: []kafka.ConfigEntry{
			{ConfigName: "cleanup.policy", ConfigValue: "delete"},
			{ConfigName: "retention.ms", ConfigValue: strconv.FormatInt(retention.Milliseconds(), 10)},
			// Of two or more replicas, one may fail. A message must be on all others to be durable.
			{ConfigName: "min.insync.replicas", ConfigValue: strconv.Itoa(max(1, c.Replicas-1))},
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
