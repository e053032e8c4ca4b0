package topic

import (
	"context"
	"log/slog"
	"strconv"
	"sync"

	"github.com/segmentio/kafka-go"
)

// warnings remembers the last state of each topic, so that repeated checks of an
// unchanged topic log its warnings once.
type warnings struct {
	lock sync.Mutex
	last map[string]topicState
}

// topicState is the state of a topic that successive checks compare.
type topicState struct {
	partitions, replicas int
	inSync               int // min.insync.replicas; 0 if unknown
}

// compare warns if a topic has fewer replicas or partitions than configured. It also
// warns if a topic with three or more replicas acknowledges messages that only one of them
// has. compare does not change the topic, because the operator decides whether to move
// replicas and keys.
func (c *Client) compare(ctx context.Context, client *kafka.Client, topic kafka.Topic) {
	now := topicState{partitions: len(topic.Partitions), inSync: inSync(ctx, client, topic.Name)}
	for i, p := range topic.Partitions {
		if n := len(p.Replicas); i == 0 || n < now.replicas {
			now.replicas = n
		}
	}
	c.warnings.lock.Lock()
	defer c.warnings.lock.Unlock()
	if c.warnings.last[topic.Name] == now {
		return
	}
	if c.warnings.last == nil {
		c.warnings.last = map[string]topicState{}
	}
	c.warnings.last[topic.Name] = now
	if now.replicas < c.Replicas {
		c.Config.Log.WarnContext(ctx, "a topic has fewer replicas than set; change it with kafka-reassign-partitions",
			slog.String("topic", topic.Name), slog.Int("replicas", now.replicas), slog.Int("set", c.Replicas), slog.String("setting", c.Section+".replicas"))
	}
	if now.inSync == 1 && now.replicas > 2 {
		c.Config.Log.WarnContext(ctx, "a topic acknowledges messages that only one replica has; set min.insync.replicas=2 so that the loss of a broker loses none",
			slog.String("topic", topic.Name), slog.Int("replicas", now.replicas))
	}
	if now.partitions < c.Partitions {
		c.Config.Log.WarnContext(ctx, "a topic has fewer partitions than set; change it with kafka-topics --alter",
			slog.String("topic", topic.Name), slog.Int("partitions", now.partitions), slog.Int("set", c.Partitions), slog.String("setting", c.Section+".partitions"))
	}
}

// inSync returns min.insync.replicas of a topic. It returns 0 on an error: the user may
// lack the right to read the setting, which is not fatal.
func inSync(ctx context.Context, client *kafka.Client, topic string) int {
	const name = "min.insync.replicas"
	reply, err := client.DescribeConfigs(ctx, &kafka.DescribeConfigsRequest{Resources: []kafka.DescribeConfigRequestResource{{
		ResourceType: kafka.ResourceTypeTopic, ResourceName: topic, ConfigNames: []string{name},
	}}})
	if err != nil {
		return 0
	}
	for _, resource := range reply.Resources {
		for _, entry := range resource.ConfigEntries {
			if n, err := strconv.Atoi(entry.ConfigValue); err == nil && resource.Error == nil && entry.ConfigName == name {
				return n
			}
		}
	}
	return 0
}
