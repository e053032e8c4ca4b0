package kafka

import (
	"context"
	"errors"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"vayu/dispatch/outbox"
	"vayu/internal/topic"
)

func TestEventsArriveUnchangedAndOrdered(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, brokers []string) {
		l := newLog(t, brokers, nil)
		want := testEvents(t, 0, 600)
		got := newCollector()
		consume(t, l, got.process)
		publish(t, l, want[:500]...)
		publish(t, l, want[500:]...)
		got.await(t, len(want))
		if diff := cmp.Diff(byAccount(t, idsOf(want)), byAccount(t, got.ids)); diff != "" {
			t.Errorf("order of the accounts (-want +got):\n%s", diff)
		}
		if got, want := counted(t, l, "published_total"), float64(len(want)); got != want {
			t.Errorf("published %v, want %v", got, want)
		}
	})
}

// javaPartitions are the partitions that kafka-clients 4.1.1 selects for some keys
// among twelve: Utils.toPositive(Utils.murmur2(key)) % 12.
var javaPartitions = map[string]int{
	"acc_1": 2, "acc_2": 11, "acc_01JBQ5W8Z9X2M7K4T6R3P1N0HG": 7, "x": 10, "acc_long-name_00": 2,
}

func TestPartitionerMatchesJavaClient(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, brokers []string) {
		l := newLog(t, brokers, func(c *topic.Config) { c.Partitions = 12 })
		create(t, l)
		for key, want := range javaPartitions {
			eventually(t, "the message is written", func() bool {
				_, err := l.Write(t.Context(), []kafka.Message{{Key: []byte(key), Value: []byte("{}")}})
				return err == nil
			})
			r := kafka.NewReader(kafka.ReaderConfig{Brokers: l.Brokers, Topic: l.Topic, Partition: want})
			t.Cleanup(func() { _ = r.Close() })
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			t.Cleanup(cancel)
			for found := false; !found; {
				m, err := r.ReadMessage(ctx)
				if err != nil {
					t.Fatalf("%s is not in partition %d: %v", key, want, err)
				}
				found = string(m.Key) == key
			}
		}
	})
}

// answerProduce replies to each partition of a request with the same code.
func answerProduce(request kmsg.Request, code int16) kmsg.Response {
	produce := request.(*kmsg.ProduceRequest)
	reply := produce.ResponseKind().(*kmsg.ProduceResponse)
	for _, topic := range produce.Topics {
		t := kmsg.NewProduceResponseTopic()
		t.Topic = topic.Topic
		for _, p := range topic.Partitions {
			answer := kmsg.NewProduceResponseTopicPartition()
			answer.Partition, answer.ErrorCode = p.Partition, code
			t.Partitions = append(t.Partitions, answer)
		}
		reply.Topics = append(reply.Topics, t)
	}
	return reply
}

func TestRejectedPartitionIsNotAcknowledged(t *testing.T) {
	t.Parallel()
	cluster := fakeBroker(t)
	l := newLog(t, cluster.ListenAddrs(), nil)
	events := testEvents(t, 0, 100)
	publish(t, l, events[0])

	rejected := false
	cluster.ControlKey(int16(kmsg.Produce), func(request kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		if rejected || request.(*kmsg.ProduceRequest).Topics[0].Partitions[0].Partition != 2 {
			return nil, nil, false
		}
		rejected = true
		return answerProduce(request, kerr.RequestTimedOut.Code), nil, true
	})
	var want []string
	for _, e := range events {
		if (kafka.Murmur2Balancer{}).Balance(kafka.Message{Key: []byte(e.Account)}, 0, 1, 2, 3) != 2 {
			want = append(want, e.ID)
		}
	}
	safe, err := l.Publish(t.Context(), events)
	if !errors.Is(err, kafka.RequestTimedOut) {
		t.Errorf("got the error %v, want that of partition 2", err)
	}
	var got []string
	for _, e := range safe {
		got = append(got, e.ID)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("safe events (-want +got):\n%s", diff)
	}
	if len(got) == len(events) {
		t.Errorf("all %d events are safe, want none of partition 2", len(got))
	}
	if got := counted(t, l, "publish_failures_total"); got != 1 {
		t.Errorf("counted %v failures, want 1", got)
	}
	publish(t, l, events...) // and the next call works
}

func TestTemporaryRejectionIsRetried(t *testing.T) {
	t.Parallel()
	cluster := fakeBroker(t)
	l := newLog(t, cluster.ListenAddrs(), nil)
	cluster.ControlKey(int16(kmsg.Produce), func(request kmsg.Request) (kmsg.Response, error, bool) {
		return answerProduce(request, kerr.NotLeaderForPartition.Code), nil, true
	})
	publish(t, l, testEvents(t, 0, 100)...)
	got := newCollector()
	consume(t, l, got.process)
	got.await(t, 100)
	if len(got.ids) != 100 {
		t.Errorf("%d events came, want 100", len(got.ids))
	}
}

func TestMovedLeaderIsFound(t *testing.T) {
	t.Parallel()
	cluster := fakeBroker(t, kfake.Ports(0, 0, 0))
	l := newLog(t, cluster.ListenAddrs(), func(c *topic.Config) { c.Partitions = 12 })
	got := newCollector()
	consume(t, l, got.process)
	publish(t, l, testEvents(t, 0, 100)...)
	for p := range int32(12) {
		if err := cluster.MoveTopicPartition(l.Topic, p, (cluster.LeaderFor(l.Topic, p)+1)%3); err != nil {
			t.Fatal(err)
		}
	}
	publish(t, l, testEvents(t, 100, 100)...)
	got.await(t, 200)
}

func TestLastingRejectionIsAnError(t *testing.T) {
	t.Parallel()
	cluster := fakeBroker(t)
	l := newLog(t, cluster.ListenAddrs(), nil)
	attempts := 0
	cluster.ControlKey(int16(kmsg.Produce), func(request kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		attempts++
		return answerProduce(request, kerr.NotEnoughReplicas.Code), nil, true
	})
	safe, err := l.Publish(t.Context(), []outbox.Event{testEvent(t, 0, "acc_1")})
	if len(safe) != 0 || !errors.Is(err, kafka.NotEnoughReplicas) || attempts != 4 {
		t.Errorf("got %d events and %v after %d attempts, want an error after 4", len(safe), err, attempts)
	}
}

func TestTopicsAreCreatedButNotChanged(t *testing.T) {
	t.Parallel()
	const old = "old"
	cluster := fakeBroker(t, kfake.SeedTopics(3, old))
	l := newLog(t, cluster.ListenAddrs(), func(c *topic.Config) { c.Topic, c.Partitions = old, 7 })
	publish(t, l, testEvents(t, 0, 50)...)
	for topic, want := range map[string]int{old: 3, l.DeadTopic: 7} {
		if got := len(partitionsOf(t, l, topic)); got != want {
			t.Errorf("topic %s has %d partitions, want %d", topic, got, want)
		}
	}
}

func TestLargeBatchIsSplit(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, brokers []string) {
		l := newLog(t, brokers, nil)
		events := make([]outbox.Event, 30)
		for i := range events {
			events[i] = testEvent(t, i, "acc_1")
			events[i].Envelope = slices.Concat(events[i].Envelope, []byte(strings.Repeat(" ", 200<<10)))
		}
		got := newCollector()
		consume(t, l, got.process)
		publish(t, l, events...)
		got.await(t, len(events))
		if diff := cmp.Diff(idsOf(events), got.ids); diff != "" {
			t.Errorf("order (-want +got):\n%s", diff)
		}
	})
}

func TestSmallerMessageLimitIsRespected(t *testing.T) {
	t.Parallel()
	cluster := fakeBroker(t)
	l := newLog(t, cluster.ListenAddrs(), nil)
	refused := 0
	cluster.ControlKey(int16(kmsg.Produce), func(request kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		for _, topic := range request.(*kmsg.ProduceRequest).Topics {
			for _, p := range topic.Partitions {
				if len(p.Records) > 5000 {
					refused++
					return answerProduce(request, kerr.MessageTooLarge.Code), nil, true
				}
			}
		}
		return nil, nil, false
	})
	events := make([]outbox.Event, 200)
	for i := range events {
		events[i] = testEvent(t, i, "acc_1")
	}
	got := newCollector()
	consume(t, l, got.process)
	publish(t, l, events...)
	got.await(t, len(events))
	if diff := cmp.Diff(idsOf(events), got.ids); diff != "" || refused == 0 {
		t.Errorf("refused %d, order (-want +got):\n%s", refused, diff)
	}
}

func TestPublishTimesOut(t *testing.T) {
	t.Parallel()
	l := newLog(t, []string{silentBroker(t)}, func(c *topic.Config) { c.Pace.Write = 50 * time.Millisecond })
	safe, err := l.Publish(context.Background(), testEvents(t, 0, 3))
	if len(safe) != 0 || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %d events and %v, want none and a time-out", len(safe), err)
	}
}

func TestPublishReconnects(t *testing.T) {
	t.Parallel()
	first := fakeBroker(t)
	l := newLog(t, first.ListenAddrs(), nil)
	if err := l.Check(t.Context()); err != nil {
		t.Errorf("with a broker: %v", err)
	}
	publish(t, l, testEvents(t, 0, 50)...)
	first.Close()
	if err := l.Check(t.Context()); err == nil {
		t.Error("a broker that is away passed the check")
	}
	if safe, err := l.Publish(t.Context(), testEvents(t, 50, 50)); err == nil {
		t.Errorf("published %d events to a broker that is away", len(safe))
	}
	fakeBroker(t, kfake.Ports(portOf(t, l.Brokers[0])))
	publish(t, l, testEvents(t, 50, 50)...)
	if err := l.Check(t.Context()); err != nil {
		t.Errorf("when the broker is back: %v", err)
	}
}

func portOf(tb testing.TB, address string) int {
	tb.Helper()
	_, text, err := net.SplitHostPort(address)
	if err != nil {
		tb.Fatal(err)
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		tb.Fatal(err)
	}
	return port
}

// silentBroker returns an address that accepts connections and never replies.
func silentBroker(tb testing.TB) string {
	tb.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = listener.Close() })
	return listener.Addr().String()
}
