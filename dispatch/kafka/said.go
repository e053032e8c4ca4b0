package kafka

import (
	"context"
	"log/slog"
	"strconv"
	"sync"

	"github.com/segmentio/kafka-go"
)

// said remembers what was logged about a topic, so that looking at it again and
// again says it once.
type said struct {
	lock sync.Mutex
	last map[string]figures
}

// figures are what is looked at in a topic.
type figures struct {
	partitions, replicas int
	inSync               int // min.insync.replicas; 0 for not known
}

// compare warns of a topic that is there and smaller than set: with fewer
// replicas it is less safe than the operator believes, and with fewer partitions
// fewer instances share its work. Neither is changed here: moving replicas and
// keys is for people to decide. More of both is nobody's harm.
func (l *Log) compare(ctx context.Context, client *kafka.Client, topic kafka.Topic) {
	now := figures{partitions: len(topic.Partitions), inSync: inSync(ctx, client, topic.Name)}
	for i, p := range topic.Partitions {
		if n := len(p.Replicas); i == 0 || n < now.replicas {
			now.replicas = n
		}
	}
	l.said.lock.Lock()
	defer l.said.lock.Unlock()
	if l.said.last[topic.Name] == now {
		return
	}
	if l.said.last == nil {
		l.said.last = map[string]figures{}
	}
	l.said.last[topic.Name] = now
	if now.replicas < l.Replicas {
		l.Log.WarnContext(ctx, "a topic has fewer replicas than event-log.replicas; it stays so until somebody changes it (kafka-reassign-partitions)",
			slog.String("topic", topic.Name), slog.Int("replicas", now.replicas), slog.Int("set", l.Replicas))
	}
	if now.inSync == 1 && now.replicas > 2 {
		l.Log.WarnContext(ctx, "a topic acknowledges events that one replica has; with min.insync.replicas=2 none is lost with a broker",
			slog.String("topic", topic.Name), slog.Int("replicas", now.replicas))
	}
	if now.partitions < l.Partitions {
		l.Log.WarnContext(ctx, "a topic has fewer partitions than event-log.partitions; it stays so until somebody changes it (kafka-topics --alter)",
			slog.String("topic", topic.Name), slog.Int("partitions", now.partitions), slog.Int("set", l.Partitions))
	}
}

// inSync is on how many replicas a topic has a message before it is acknowledged; 0
// where that is not said, because the user may not know it: that is no reason not
// to work.
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
