package kafka

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"vayu/internal/topic"
)

// logBuffer is a log buffer that is safe for concurrent use.
type logBuffer struct {
	lock sync.Mutex
	text strings.Builder
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.text.Write(p)
}

func (l *logBuffer) String() string {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.text.String()
}

// commits counts the commits that a broker receives. If refuse is set, it refuses
// them.
func commits(cluster *kfake.Cluster, refuse *atomic.Bool) *atomic.Int64 {
	var count atomic.Int64
	cluster.ControlKey(int16(kmsg.OffsetCommit), func(request kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		count.Add(1)
		if refuse == nil || !refuse.Load() {
			return nil, nil, false
		}
		commit := request.(*kmsg.OffsetCommitRequest)
		reply := commit.ResponseKind().(*kmsg.OffsetCommitResponse)
		for _, topic := range commit.Topics {
			t := kmsg.NewOffsetCommitResponseTopic()
			t.Topic = topic.Topic
			for _, p := range topic.Partitions {
				answer := kmsg.NewOffsetCommitResponseTopicPartition()
				answer.Partition, answer.ErrorCode = p.Partition, kerr.RebalanceInProgress.Code
				t.Partitions = append(t.Partitions, answer)
			}
			reply.Topics = append(reply.Topics, t)
		}
		return reply, nil, true
	})
	return &count
}

func TestFailedBatchIsRetriedAndNotCommitted(t *testing.T) {
	t.Parallel()
	cluster := fakeBroker(t)
	committed := commits(cluster, nil)
	var log logBuffer
	l := newLog(t, cluster.ListenAddrs(), func(c *topic.Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	publish(t, l, testEvents(t, 0, 20)...)
	var first []string
	calls := 0
	taken := make(chan struct{})
	got := newCollector()
	consume(t, l, func(ctx context.Context, batch []string) (map[string]error, error) {
		calls++
		if calls == 1 {
			first = batch
		}
		if calls <= 4 {
			if diff := cmp.Diff(first, batch); diff != "" || committed.Load() != 0 {
				t.Errorf("call %d after %d commits (-want +got):\n%s", calls, committed.Load(), diff)
			}
		}
		if calls < 4 {
			return nil, errors.New("the store is full")
		}
		if calls == 4 {
			close(taken)
		}
		return got.process(ctx, batch)
	})
	receive(t, taken)
	got.await(t, 20)
	eventually(t, "20 are consumed", func() bool { return counted(t, l, "consumed_total") == 20 })
	if got := counted(t, l, "redelivered_batches_total"); got != 3 {
		t.Errorf("counted %v redelivered batches, want 3", got)
	}
	if text := log.String(); strings.Count(text, "the store is full") != 1 || strings.Count(text, "answers again") != 1 {
		t.Errorf("got other lines than one for the failure and one for the recovery:\n%s", text)
	}
	if len(got.ids) != 20 || committed.Load() == 0 {
		t.Errorf("took %d events with %d commits, want 20 and some", len(got.ids), committed.Load())
	}
}

func TestUnfinishedBatchGoesToNextMember(t *testing.T) {
	t.Parallel()
	cluster := fakeBroker(t)
	committed := commits(cluster, nil)
	l := newLog(t, cluster.ListenAddrs(), nil)
	publish(t, l, testEvents(t, 0, 20)...)
	handed := make(chan struct{}, 1)
	stop := consume(t, l, func(ctx context.Context, _ []string) (map[string]error, error) {
		handed <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	})
	receive(t, handed)
	stop()
	if got := committed.Load(); got != 0 {
		t.Errorf("committed %d times without a batch that was taken", got)
	}
	got := newCollector()
	stop = consume(t, l, got.process)
	got.await(t, 20)
	eventually(t, "20 are consumed", func() bool { return counted(t, l, "consumed_total") == 20 })
	stop()
	// Finished events are not delivered again.
	publish(t, l, testEvent(t, 100, "acc_1"))
	last := newCollector()
	consume(t, l, last.process)
	last.await(t, 1)
	if len(last.ids) != 1 {
		t.Errorf("got %d events, want the new one alone", len(last.ids))
	}
}

func TestUncommittedBatchIsRedelivered(t *testing.T) {
	t.Parallel()
	cluster := fakeBroker(t)
	var refuse atomic.Bool
	refuse.Store(true)
	commits(cluster, &refuse)
	l := newLog(t, cluster.ListenAddrs(), nil)
	publish(t, l, testEvent(t, 1, "acc_1"))
	calls := make(chan string, 100)
	consume(t, l, func(_ context.Context, batch []string) (map[string]error, error) {
		calls <- batch[0]
		return nil, nil
	})
	if first, second := receive(t, calls), receive(t, calls); first != second {
		t.Errorf("got %s and then %s, want it twice", first, second)
	}
	if counted(t, l, "commit_failures_total") == 0 {
		t.Error("no failed commit was counted")
	}
	refuse.Store(false)
	eventually(t, "it is consumed", func() bool { return counted(t, l, "consumed_total") == 1 })
}

func TestTwoMembersSharePartitions(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, brokers []string) {
		one := newLog(t, brokers, nil)
		two := secondInstance(t, one)
		all, ofOne, ofTwo := newCollector(), newCollector(), newCollector()
		both := func(b *collector) Process {
			return func(ctx context.Context, batch []string) (map[string]error, error) {
				if _, err := b.process(ctx, batch); err != nil {
					return nil, err
				}
				return all.process(ctx, batch)
			}
		}
		stopOne := consume(t, one, both(ofOne))
		publish(t, one, testEvents(t, 0, 300)...)
		all.await(t, 300)
		consume(t, two, both(ofTwo))
		sent := 300
		for ofTwo.different() == 0 { // until the second has a share
			publish(t, one, testEvents(t, sent, 50)...)
			sent += 50
			all.await(t, sent)
		}
		stopOne()
		publish(t, two, testEvents(t, sent, 100)...)
		all.await(t, sent+100)
	})
}

func TestNewPartitionIsReadFromStart(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, brokers []string) {
		l := newLog(t, brokers, func(c *topic.Config) { c.Partitions = 1 })
		got := newCollector()
		consume(t, l, got.process)
		publish(t, l, testEvents(t, 0, 100)...)
		client := &kafka.Client{Addr: kafka.TCP(l.Brokers...)}
		reply, err := client.CreatePartitions(t.Context(), &kafka.CreatePartitionsRequest{
			Topics: []kafka.TopicPartitionsConfig{{Name: l.Topic, Count: 5}},
		})
		if err != nil || reply.Errors[l.Topic] != nil {
			t.Fatal(err, reply)
		}
		_ = l.Close() // what it remembers is seconds old
		// New leaders may not be known at once.
		eventually(t, "all are published", func() bool {
			_, err := l.Publish(t.Context(), testEvents(t, 100, 100))
			return err == nil
		})
		got.await(t, 200)
	})
}

func TestStoppedMemberLeavesGroup(t *testing.T) {
	t.Parallel()
	cluster := fakeBroker(t)
	left := make(chan struct{}, 1)
	cluster.ControlKey(int16(kmsg.LeaveGroup), func(kmsg.Request) (kmsg.Response, error, bool) {
		left <- struct{}{}
		return nil, nil, false
	})
	l := newLog(t, cluster.ListenAddrs(), nil)
	publish(t, l, testEvents(t, 0, 20)...)
	got := newCollector()
	stop := consume(t, l, got.process)
	got.await(t, 20)
	stop()
	receive(t, left)
}

func TestConsumeStopsWithoutBroker(t *testing.T) {
	t.Parallel()
	t.Run("topics", func(t *testing.T) {
		t.Parallel()
		l := newLog(t, []string{silentBroker(t)}, nil)
		consume(t, l, newCollector().process)()
	})
	t.Run("group", func(t *testing.T) {
		t.Parallel()
		cluster := fakeBroker(t)
		joining := make(chan struct{})
		var once sync.Once
		cluster.ControlKey(int16(kmsg.JoinGroup), func(kmsg.Request) (kmsg.Response, error, bool) {
			cluster.KeepControl()
			once.Do(func() { close(joining) })
			cluster.SleepControl(func() { <-t.Context().Done() })
			return nil, nil, false
		})
		l := newLog(t, cluster.ListenAddrs(), nil)
		stop := consume(t, l, newCollector().process)
		receive(t, joining)
		stop()
	})
}

func TestConsumeReconnects(t *testing.T) {
	t.Parallel()
	first := fakeBroker(t)
	l := newLog(t, first.ListenAddrs(), nil)
	got := newCollector()
	consume(t, l, got.process)
	publish(t, l, testEvents(t, 0, 50)...)
	got.await(t, 50)
	first.Close()
	eventually(t, "the loss is noticed", func() bool { return counted(t, l, "connection_failures_total") > 0 })
	fakeBroker(t, kfake.Ports(portOf(t, l.Brokers[0])))
	// The broker is empty, so its topics are created again. The first attempt may use an old
	// connection.
	if _, err := l.Publish(t.Context(), testEvents(t, 50, 50)); err != nil {
		publish(t, l, testEvents(t, 50, 50)...)
	}
	got.await(t, 100)
}

func TestTruncatedLogResetsOffset(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, brokers []string) {
		l := newLog(t, brokers, func(c *topic.Config) { c.Partitions = 1 })
		publish(t, l, testEvents(t, 0, 20)...)
		client := &kafka.Client{Addr: kafka.TCP(l.Brokers...)}
		reply, err := client.OffsetCommit(t.Context(), &kafka.OffsetCommitRequest{
			GroupID: l.Group, GenerationID: -1, Topics: map[string][]kafka.OffsetCommit{l.Topic: {{Partition: 0, Offset: 1000}}},
		})
		if err != nil || reply.Topics[l.Topic][0].Error != nil {
			t.Fatal(err, reply)
		}
		got := newCollector()
		consume(t, l, got.process)
		got.await(t, 20)
		if got := counted(t, l, "resets_total", "truncated"); got != 1 {
			t.Errorf("counted %v resets, want 1", got)
		}
	})
}

func TestLagCountsUnfinishedMessages(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, brokers []string) {
		l := newLog(t, brokers, nil)
		publish(t, l, testEvents(t, 0, 70)...)
		open := make(chan struct{})
		got := newCollector()
		consume(t, l, func(ctx context.Context, batch []string) (map[string]error, error) {
			select {
			case <-open:
				return got.process(ctx, batch)
			default:
				return nil, errors.New("not yet")
			}
		})
		eventually(t, "the lag is 70", func() bool { return lagIs(t, l, 70) })
		publish(t, l, testEvents(t, 70, 30)...)
		eventually(t, "the lag is 100", func() bool { return lagIs(t, l, 100) })
		close(open)
		eventually(t, "the lag is 0", func() bool { return got.different() == 100 && lagIs(t, l, 0) })
	})
}
