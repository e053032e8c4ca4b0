package kafka

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/twmb/franz-go/pkg/kfake"

	"vayu/dispatch/outbox"
	"vayu/internal/topic"
	"vayu/internal/topic/broker"
	"vayu/schema"
)

// variable names the environment variable with the host:port of a real broker, which
// .ci/kafka starts and prints.
const variable = "VAYU_TEST_KAFKA"

// patience bounds every wait of a test.
const patience = 5 * time.Minute

// realBroker returns the address of a real broker.
func realBroker(tb testing.TB) string {
	tb.Helper()
	broker := os.Getenv(variable)
	switch {
	case broker != "":
	case os.Getenv("CI") == "true":
		tb.Fatalf("%s is not set, and in CI nothing is skipped", variable)
	default:
		tb.Skipf("%s is not set; .ci/kafka starts a broker", variable)
	}
	return broker
}

// fakeBroker starts a broker in this process.
func fakeBroker(tb testing.TB, more ...kfake.Opt) *kfake.Cluster {
	tb.Helper()
	cluster, err := kfake.NewCluster(append([]kfake.Opt{kfake.Ports(0)}, more...)...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(cluster.Close)
	return cluster
}

// each runs a test with a broker in this process and with a real one, as the subtests
// "fake" and "real".
func each(t *testing.T, do func(t *testing.T, brokers []string)) {
	t.Helper()
	t.Run("fake", func(t *testing.T) {
		t.Parallel()
		do(t, fakeBroker(t).ListenAddrs())
	})
	t.Run("real", func(t *testing.T) {
		t.Parallel()
		do(t, []string{realBroker(t)})
	})
}

// testPace returns the delays of tests.
func testPace() topic.Pace {
	return topic.Pace{Write: patience, Retry: 5 * time.Millisecond, Watch: 50 * time.Millisecond, Truncation: 50 * time.Millisecond}
}

// transportOf returns a connection of its own to the brokers, with the login of l.
func transportOf(tb testing.TB, l *Log) *kafka.Transport {
	tb.Helper()
	security, err := l.Security()
	if err != nil {
		tb.Fatal(err)
	}
	t := &kafka.Transport{Dial: security.Dial, SASL: security.Login}
	tb.Cleanup(t.CloseIdleConnections)
	return t
}

// partitionsOf returns the partitions of a topic, as brokers know them now. It repeats a call that fails, because a
// broker that is killed or starts again ends its connections.
func partitionsOf(tb testing.TB, l *Log, name string) []kafka.Partition {
	tb.Helper()
	client := &kafka.Client{Addr: kafka.TCP(l.Brokers...), Transport: transportOf(tb, l)}
	var reply *kafka.MetadataResponse
	eventually(tb, "a broker describes the topic "+name, func() bool {
		var err error
		reply, err = client.Metadata(tb.Context(), &kafka.MetadataRequest{Topics: []string{name}})
		return err == nil && len(reply.Topics) == 1
	})
	return reply.Topics[0].Partitions
}

// isTemporary reports whether a broker, or the client that knows its partitions, has rejected a write that may succeed
// when retried soon.
func isTemporary(err error) bool {
	return slices.ContainsFunc([]error{
		kafka.NotLeaderForPartition, kafka.LeaderNotAvailable, kafka.UnknownTopicOrPartition, kafka.NotEnoughReplicas,
		kafka.InvalidReplicationFactor, kafka.BrokerNotAvailable, // a busy broker has missed its heartbeat
		context.DeadlineExceeded, os.ErrDeadlineExceeded, // it replies late to a request for metadata
		protocol.ErrNoTopic, protocol.ErrNoPartition,
	}, func(code error) bool { return errors.Is(err, code) })
}

// newLog creates a Log with topics of four partitions and a group of its own. change
// may be nil.
func newLog(tb testing.TB, brokers []string, change func(*topic.Config)) *Log {
	tb.Helper()
	name := fmt.Sprintf("%s.%d", strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, tb.Name()), time.Now().UnixNano())
	c := topic.Config{
		Settings: broker.Settings{Topic: name, DeadTopic: name + ".dead", Group: name, Partitions: 4, Replicas: 1},
		Brokers:  brokers, Pace: testPace(), Metrics: prometheus.NewRegistry(),
	}
	if testing.Verbose() {
		c.Log = slog.New(slog.NewTextHandler(tb.Output(), &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	if change != nil {
		change(&c)
	}
	l, err := New(c)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = l.Close() })
	return l
}

// secondInstance returns the Log of a second instance that shares topics and group
// with l.
func secondInstance(tb testing.TB, l *Log) *Log {
	tb.Helper()
	return newLog(tb, l.Brokers, func(c *topic.Config) { c.Settings, c.Pace = l.Settings, l.Pace })
}

// testTime is the time of the test events.
var testTime = time.Date(2026, 11, 1, 6, 30, 0, 123456000, time.UTC)

func testEvent(tb testing.TB, n int, account string) outbox.Event {
	tb.Helper()
	e := outbox.Event{
		ID: fmt.Sprintf("evt_%026d", n), Account: account, World: schema.World(n % 2), Type: schema.EventPaymentSucceeded,
		CreatedAt: testTime.Add(time.Duration(n) * time.Millisecond),
	}
	text, err := json.Marshal(schema.Envelope{
		ID: e.ID, Type: e.Type, Created: e.CreatedAt.Unix(), APIVersion: schema.EventVersion, Data: json.RawMessage(`{"amount":"100.00"}`),
	})
	if err != nil {
		tb.Fatal(err)
	}
	e.Envelope = text
	return e
}

// accounts is the number of accounts of testEvents.
const accounts = 17

// testEvents returns count events, numbered from from, of some accounts in turn.
func testEvents(tb testing.TB, from, count int) []outbox.Event {
	tb.Helper()
	events := make([]outbox.Event, count)
	for i := range events {
		events[i] = testEvent(tb, from+i, fmt.Sprintf("acc_%d", (from+i)%accounts))
	}
	return events
}

// publish publishes events as the outbox does, and retries rejected ones. A busy
// broker rejects events for a new topic for about a second.
func publish(tb testing.TB, l *Log, events ...outbox.Event) {
	tb.Helper()
	eventually(tb, "all events are published", func() bool {
		safe, err := l.Publish(context.Background(), events)
		if err != nil && !isTemporary(err) {
			tb.Fatalf("published %d of %d: %v", len(safe), len(events), err)
		}
		done := map[string]bool{}
		for _, e := range safe {
			done[e.ID] = true
		}
		events = slices.DeleteFunc(slices.Clone(events), func(e outbox.Event) bool { return done[e.ID] })
		return len(events) == 0
	})
}

// create creates the topics of a log, and retries while the broker is busy.
func create(tb testing.TB, l *Log) {
	tb.Helper()
	eventually(tb, "the topics are created", func() bool {
		err := l.Create(tb.Context())
		if err != nil && !isTemporary(err) {
			tb.Fatal(err)
		}
		return err == nil
	})
}

// write writes messages until all are acknowledged. Partitions of a new topic may have no leader at first.
func write(tb testing.TB, l *Log, messages ...kafka.Message) {
	tb.Helper()
	eventually(tb, "all messages are written", func() bool {
		acked, err := l.Write(context.Background(), messages)
		if err != nil && !isTemporary(err) {
			tb.Fatalf("writing messages: %v, acknowledged %v", err, acked)
		}
		var left []kafka.Message
		for i, m := range messages {
			if !acked[i] {
				left = append(left, m)
			}
		}
		messages = left
		return len(messages) == 0
	})
}

// collector is a Process that records the ids of its events.
type collector struct {
	lock sync.Mutex
	ids  []string
	seen map[string]int
	more chan struct{} // has a value when something came
}

func newCollector() *collector {
	return &collector{seen: map[string]int{}, more: make(chan struct{}, 1)}
}

func (b *collector) process(_ context.Context, batch []string) (map[string]error, error) {
	b.lock.Lock()
	defer b.lock.Unlock()
	b.ids = append(b.ids, batch...)
	for _, id := range batch {
		b.seen[id]++
	}
	select {
	case b.more <- struct{}{}:
	default:
	}
	return nil, nil
}

func (b *collector) different() int {
	b.lock.Lock()
	defer b.lock.Unlock()
	return len(b.seen)
}

// await waits for the given number of different events.
func (b *collector) await(tb testing.TB, count int) {
	tb.Helper()
	late := time.After(patience)
	for b.different() < count {
		select {
		case <-b.more:
		case <-late:
			tb.Fatalf("got %d of %d events", b.different(), count)
		}
	}
}

// consume runs Consume until stop is called or the test ends.
func consume(tb testing.TB, l *Log, take Process) (stop func()) {
	tb.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- l.Consume(ctx, take) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := receive(tb, ended); err != nil {
			tb.Errorf("Consume returned %v", err)
		}
	})
	tb.Cleanup(stop)
	return stop
}

// receive waits for a value of a channel.
func receive[T any](tb testing.TB, from <-chan T) (value T) {
	tb.Helper()
	select {
	case value = <-from:
	case <-time.After(patience):
		tb.Error("nothing came")
	}
	return value
}

// eventually polls a condition until it holds.
func eventually(tb testing.TB, what string, holds func() bool) {
	tb.Helper()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	late := time.After(patience)
	for !holds() {
		select {
		case <-look.C:
		case <-late:
			tb.Fatalf("it never happened: %s", what)
		}
	}
}

// byAccount groups the ids of testEvents by account, in order and without repetitions.
func byAccount(tb testing.TB, ids []string) map[int][]string {
	tb.Helper()
	groups, seen := map[int][]string{}, map[string]bool{}
	for _, id := range ids {
		n, err := strconv.Atoi(strings.TrimPrefix(id, "evt_"))
		if err != nil {
			tb.Fatal(err)
		}
		if !seen[id] {
			groups[n%accounts] = append(groups[n%accounts], id)
		}
		seen[id] = true
	}
	return groups
}

// counted returns the value of a metric, for one reason if it has reasons.
func counted(tb testing.TB, l *Log, name string, reason ...string) (figure float64) {
	tb.Helper()
	families, err := l.Metrics.(*prometheus.Registry).Gather()
	if err != nil {
		tb.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() != "vayu_eventlog_"+name {
			continue
		}
		for _, metric := range family.GetMetric() {
			if len(reason) == 0 || metric.GetLabel()[0].GetValue() == reason[0] {
				return metric.GetCounter().GetValue() + metric.GetGauge().GetValue()
			}
		}
	}
	tb.Fatalf("there is no metric %s %v", name, reason)
	return 0
}
