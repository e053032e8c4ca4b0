//go:build integration

package kafka

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"vayu/internal/topic"
)

// Each of three brokers is killed in turn while events pass through them. The other
// two continue. Every acknowledged event is processed, in the order of its account.
func TestIntegrationNothingIsLostWhenABrokerOfThreeIsKilled(t *testing.T) {
	t.Parallel()
	realBroker(t) // there is a Kafka to start
	dir := filepath.Join(t.TempDir(), "kafka")
	t.Cleanup(func() {
		if _, err := os.Stat(dir); err == nil {
			script(t, "stop", dir)
		}
	})
	brokers := strings.Split(script(t, "start", dir, "--brokers", "3"), ",")
	l := newLog(t, brokers, func(c *topic.Config) { c.Replicas, c.Pace = 3, topic.Pace{} })
	got := newCollector()
	stopConsume := consume(t, secondInstance(t, l), got.process)
	publisher := &relay{log: l}
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		publisher.run(t, stop)
	}()
	for n := range brokers {
		got.await(t, got.different()+200)
		script(t, "kill", dir, strconv.Itoa(n+1))
		got.await(t, got.different()+200) // beside what was under way: the other two go on
		if word := l.Status(t.Context()); word != "ok" {
			t.Errorf("with two of three brokers, got %q", word)
		}
		script(t, "revive", dir, strconv.Itoa(n+1))
		eventually(t, "every partition has its replicas again", func() bool { return whole(t, l) })
	}
	close(stop)
	receive(t, ended)
	got.await(t, publisher.acked)
	stopConsume()
	t.Logf("%d events were acknowledged, with %d failed calls; %d came, %d of them again",
		publisher.acked, publisher.failed, len(got.ids), len(got.ids)-got.different())
	for account, ids := range byAccount(t, got.ids) {
		for i := 1; i < len(ids); i++ {
			if ids[i] < ids[i-1] {
				t.Errorf("account %d: %s came after %s", account, ids[i], ids[i-1])
			}
		}
	}
}

// whole reports whether every replica of the topic is in sync.
func whole(tb testing.TB, l *Log) bool {
	tb.Helper()
	for _, p := range partitionsOf(tb, l, l.Topic) {
		if len(p.Isr) < 3 {
			return false
		}
	}
	return true
}
