package kafka

import (
	"log/slog"
	"testing"

	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kfake"

	"vayu/internal/testing/fixture"
	"vayu/internal/topic"
)

// A topic smaller than configured is logged once. Events are still published.
func TestSmallTopicIsWarnedOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, brokers []string) {
		small := newLog(t, brokers, func(c *topic.Config) { c.Partitions = 2 })
		create(t, small)
		var log fixture.Log
		l := newLog(t, brokers, func(c *topic.Config) {
			c.Settings = small.Settings
			c.Partitions, c.Replicas = 3, 2
			c.Log = slog.New(slog.NewTextHandler(&log, nil))
		})
		for range 3 {
			publish(t, l, testEvents(t, 0, 10)...)
		}
		if got := log.Count("fewer replicas"); got != 2 {
			t.Errorf("the replicas were logged %d times, want once for each topic:\n%s", got, log.String())
		}
		if got := log.Count("fewer partitions"); got != 2 {
			t.Errorf("the partitions were logged %d times, want once for each topic:\n%s", got, log.String())
		}
		if log.Count("topic="+l.Topic+" replicas=1 set=2") != 1 {
			t.Errorf("the log lacks the actual and the configured number:\n%s", log.String())
		}
	})
}

// A topic with three replicas loses no event with one broker, and accepts events
// without it.
func TestThreeReplicasNeedTwoInSync(t *testing.T) {
	t.Parallel()
	l := newLog(t, fakeBroker(t, kfake.NumBrokers(3), kfake.Ports(0, 0, 0)).ListenAddrs(), func(c *topic.Config) { c.Replicas = 3 })
	create(t, l)
	client := &kafka.Client{Addr: kafka.TCP(l.Brokers...), Transport: transportOf(t, l)}
	for _, topic := range []string{l.Topic, l.DeadTopic} {
		reply, err := client.DescribeConfigs(t.Context(), &kafka.DescribeConfigsRequest{Resources: []kafka.DescribeConfigRequestResource{{
			ResourceType: kafka.ResourceTypeTopic, ResourceName: topic, ConfigNames: []string{"min.insync.replicas"},
		}}})
		if err != nil {
			t.Fatal(err)
		}
		if got := reply.Resources[0].ConfigEntries[0].ConfigValue; got != "2" {
			t.Errorf("%s asks for %s replicas, want 2", topic, got)
		}
	}
	reply, err := client.Metadata(t.Context(), &kafka.MetadataRequest{Topics: []string{l.Topic}})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range reply.Topics[0].Partitions {
		if len(p.Replicas) != 3 {
			t.Errorf("partition %d has %d replicas, want 3", p.ID, len(p.Replicas))
		}
	}
}
