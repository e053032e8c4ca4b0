package topic

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strconv"
	"time"

	"github.com/segmentio/kafka-go"
)

// retention is how long the topics that Vayu creates keep messages. The state store keeps finished deliveries for the
// same time. If no consumer runs for longer than that, messages are lost.
const retention = 30 * 24 * time.Hour

const (
	pollTopic  = 50 * time.Millisecond // interval of checks of a topic that is being created
	leaderWait = 2 * time.Second       // how long to wait for the leaders of a new topic
)

// Create creates the topic and the dead topic if they are missing, as Write and Consume do. It does not change existing
// topics, but logs a warning if one has fewer replicas or partitions than configured.
func (c *Client) Create(ctx context.Context) error {
	c.made.Store(false)
	return c.makeTopics(ctx)
}

// makeTopics creates missing topics and does not change existing ones. After a success, it does nothing until a broker
// reports a topic as unknown, because the topic may have been deleted. makeTopics waits until all partitions of new
// topics have leaders, but at most leaderWait: the partitions that have a leader are already usable.
func (c *Client) makeTopics(ctx context.Context) error {
	if c.made.Load() {
		return nil
	}
	transport := c.newTransport() // the transport of the writer may have stale metadata
	transport.MetadataTTL = leaderWait / 4
	defer transport.CloseIdleConnections()
	client := c.newClient(transport)
	var until time.Time
	for {
		topics, missing, err := c.checkTopics(ctx, client)
		if err == nil && len(missing) > 0 {
			until = time.Now().Add(leaderWait)
			err = c.create(ctx, client, missing)
		}
		if err != nil {
			return fmt.Errorf("creating the topics: %w", err)
		}
		if len(missing) == 0 && (allLed(topics) || !time.Now().Before(until)) {
			c.warn(ctx, client, topics)
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

// checkTopics returns the state of both topics, and the configurations of the missing topics.
func (c *Client) checkTopics(ctx context.Context, client *kafka.Client) (topics []kafka.Topic, missing []kafka.TopicConfig, err error) {
	reply, err := client.Metadata(ctx, &kafka.MetadataRequest{Topics: []string{c.Topic, c.DeadTopic}})
	if err != nil {
		return nil, nil, err
	}
	for _, topic := range reply.Topics {
		code, isCode := errors.AsType[kafka.Error](topic.Error)
		switch {
		case errors.Is(topic.Error, kafka.UnknownTopicOrPartition):
			missing = append(missing, c.newTopic(topic.Name))
		case topic.Error != nil && (!isCode || !code.Temporary()):
			return nil, nil, fmt.Errorf("topic %s: %w", topic.Name, topic.Error)
		}
	}
	return reply.Topics, missing, nil
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
			// A write must reach all replicas but one. So writes continue if one of two or more replicas fails.
			{ConfigName: minInSync, ConfigValue: strconv.Itoa(max(1, c.Replicas-1))},
		},
	}
}

// allLed reports whether every partition of the topics has a leader.
func allLed(topics []kafka.Topic) bool {
	for _, topic := range topics {
		for _, p := range topic.Partitions {
			if p.Error != nil || p.Leader.Host == "" {
				return false
			}
		}
		if topic.Error != nil || len(topic.Partitions) == 0 {
			return false
		}
	}
	return true
}

// warn logs a warning for a topic with fewer replicas or partitions than configured. It also warns about a topic with
// three or more replicas that acknowledges a message once a single replica has it. It does not change topics, because
// the operator decides whether to move replicas and keys.
func (c *Client) warn(ctx context.Context, client *kafka.Client, topics []kafka.Topic) {
	for _, topic := range topics {
		replicas := math.MaxInt
		for _, p := range topic.Partitions {
			replicas = min(replicas, len(p.Replicas))
		}
		name, partitions := slog.String("topic", topic.Name), len(topic.Partitions)
		if replicas < c.Replicas {
			c.Config.Log.WarnContext(ctx, "a topic has fewer replicas than set; change it with kafka-reassign-partitions",
				name, slog.Int("replicas", replicas), slog.Int("set", c.Replicas), slog.String("setting", c.Section+".replicas"))
		}
		if replicas > 2 && inSync(ctx, client, topic.Name) == 1 {
			c.Config.Log.WarnContext(ctx, "a topic acknowledges messages that only one replica has; set min.insync.replicas=2 so that the loss of a broker loses none",
				name, slog.Int("replicas", replicas))
		}
		if partitions < c.Partitions {
			c.Config.Log.WarnContext(ctx, "a topic has fewer partitions than set; change it with kafka-topics --alter",
				name, slog.Int("partitions", partitions), slog.Int("set", c.Partitions), slog.String("setting", c.Section+".partitions"))
		}
	}
}

// minInSync is the topic setting for the number of replicas that must have a message before it is acknowledged.
const minInSync = "min.insync.replicas"

// inSync returns the setting minInSync of a topic. It returns 0 if the setting cannot be read, for example because the
// Kafka user lacks the right to read settings. Only a warning depends on the result.
func inSync(ctx context.Context, client *kafka.Client, topic string) int {
	reply, err := client.DescribeConfigs(ctx, &kafka.DescribeConfigsRequest{Resources: []kafka.DescribeConfigRequestResource{{
		ResourceType: kafka.ResourceTypeTopic, ResourceName: topic, ConfigNames: []string{minInSync},
	}}})
	if err != nil || len(reply.Resources) != 1 || len(reply.Resources[0].ConfigEntries) != 1 {
		return 0
	}
	n, _ := strconv.Atoi(reply.Resources[0].ConfigEntries[0].ConfigValue) // 0 without a value
	return n
}
