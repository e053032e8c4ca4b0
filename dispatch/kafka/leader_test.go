package kafka

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"vayu/dispatch/outbox"
	"vayu/internal/topic"
)

// removeLeaders removes the leaders of a partition of the events, and of the whole
// dead topic, until mend is called.
func removeLeaders(cluster *kfake.Cluster, l *Log, partition int32) (mend func()) {
	return cluster.Fault(
		kfake.Fault{
			Keys:  []kmsg.Key{kmsg.Metadata, kmsg.Produce, kmsg.Fetch, kmsg.ListOffsets},
			Topic: l.Topic, Partitions: []int32{partition}, Err: kerr.LeaderNotAvailable, Count: -1,
		},
		kfake.Fault{Keys: []kmsg.Key{kmsg.Metadata, kmsg.Produce}, Topic: l.DeadTopic, Partitions: []int32{0, 1, 2, 3}, Err: kerr.LeaderNotAvailable, Count: -1},
	).Remove
}

// others returns the ids of events that do not belong to a partition.
func others(l *Log, events []outbox.Event, partition int) (ids []string) {
	for _, e := range events {
		if (kafka.Murmur2Balancer{}).Balance(kafka.Message{Key: []byte(e.Account)}, 0, 1, 2, 3) != partition {
			ids = append(ids, e.ID)
		}
	}
	return ids
}

func idsOf(events []outbox.Event) (ids []string) {
	for _, e := range events {
		ids = append(ids, e.ID)
	}
	return ids
}

func TestLeaderlessPartitionBlocksNoOther(t *testing.T) {
	t.Parallel()
	cluster := fakeBroker(t)
	old := newLog(t, cluster.ListenAddrs(), nil)
	publish(t, old, testEvents(t, 0, 100)...)
	mend := removeLeaders(cluster, old, 2)
	batch := testEvents(t, 100, 100)
	fresh := secondInstance(t, old) // starts meanwhile
	for name, l := range map[string]*Log{"one that was there before": old, "one that starts meanwhile": fresh} {
		eventually(t, name+" knows that the partition has no leader", func() bool {
			_, err := l.Publish(t.Context(), batch)
			return errors.Is(err, topic.ErrNoLeader)
		})
		_, _ = l.Publish(t.Context(), batch) // opens what the attempts before have closed
		connected := cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.ApiVersions}, Observe: true, Count: -1})
		for range 20 {
			safe, err := l.Publish(t.Context(), batch)
			if !errors.Is(err, kafka.LeaderNotAvailable) || !errors.Is(err, outbox.ErrPartial) {
				t.Errorf("%s: got %v, want that a partition has no leader, which is the affair of some", name, err)
			}
			if diff := cmp.Diff(others(l, batch, 2), idsOf(safe)); diff != "" {
				t.Fatalf("%s: safe events (-want +got):\n%s", name, diff)
			}
			if len(safe) == len(batch) {
				t.Fatalf("%s: all %d events are safe, want none of the partition without a leader", name, len(safe))
			}
		}
		if n := connected.Hits(); n >= 10 { // one or two when lanes write at the same time: as many as ever did so
			t.Errorf("%s: %d connections were opened for 20 calls, want those that stay", name, n)
		}
		connected.Remove()
	}

	got := newCollector()
	consume(t, secondInstance(t, old), got.process) // so does a dispatcher
	got.await(t, len(others(old, testEvents(t, 0, 200), 2)))
	mend()
	publish(t, old, batch...)
	got.await(t, 200)
}

func TestTopicWithoutLeadersFailsAll(t *testing.T) {
	t.Parallel()
	cluster := fakeBroker(t)
	l := newLog(t, cluster.ListenAddrs(), nil)
	publish(t, l, testEvents(t, 0, 10)...)
	for n := range int32(4) {
		removeLeaders(cluster, l, n)
	}
	eventually(t, "it is known that no partition has a leader", func() bool {
		_, err := l.Publish(t.Context(), testEvents(t, 10, 10))
		return errors.Is(err, topic.ErrNoLeader) && !errors.Is(err, outbox.ErrPartial)
	})
}

// A deleted topic is created again, and its events continue.
func TestDeletedTopicIsRecreated(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, brokers []string) {
		l := newLog(t, brokers, nil)
		publish(t, l, testEvents(t, 0, 50)...)
		client := &kafka.Client{Addr: kafka.TCP(l.Brokers...), Transport: transportOf(t, l)}
		reply, err := client.DeleteTopics(t.Context(), &kafka.DeleteTopicsRequest{Topics: []string{l.Topic}})
		if err != nil || reply.Errors[l.Topic] != nil {
			t.Fatal(err, reply)
		}
		eventually(t, "the topic is deleted", func() bool { // until then, brokers accept events and delete them
			return len(partitionsOf(t, l, l.Topic)) == 0
		})
		publish(t, l, testEvents(t, 50, 50)...)
		got := newCollector()
		consume(t, l, got.process)
		got.await(t, 50)
		if ids := got.ids; !slices.Contains(ids, "evt_00000000000000000000000099") {
			t.Errorf("got the events %v, want those that were published after the topic was deleted", ids)
		}
	})
}
