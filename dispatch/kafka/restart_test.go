package kafka

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"vayu/dispatch/outbox"
	"vayu/internal/topic"
)

// brokerScript starts, kills and stops real brokers.
const brokerScript = "../../.ci/kafka"

// script runs an action of the broker script and returns the line that it prints.
func script(tb testing.TB, action, dir string, more ...string) string {
	tb.Helper()
	command := exec.Command(brokerScript, append([]string{action, dir}, more...)...)
	command.Stderr = tb.Output()
	out, err := command.Output()
	if err != nil {
		tb.Fatalf("%s %s: %v", brokerScript, action, err)
	}
	return strings.TrimSpace(string(out))
}

// relay publishes events in order until it is stopped, and retries those that were not
// acknowledged.
type relay struct {
	log  *Log
	lock sync.Mutex
	// acked counts acknowledged events, and failed the calls with an error.
	acked, failed int
}

// run publishes 50 events every 100 ms.
func (r *relay) run(tb testing.TB, stop <-chan struct{}) {
	tb.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	var waiting []outbox.Event
	made := 0
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		waiting = append(waiting, testEvents(tb, made, 50)...)
		made += 50
		safe, err := r.log.Publish(tb.Context(), waiting[:min(len(waiting), 500)])
		done := map[string]bool{}
		for _, e := range safe {
			done[e.ID] = true
		}
		var left []outbox.Event
		for _, e := range waiting {
			if !done[e.ID] {
				left = append(left, e)
			}
		}
		waiting = left
		r.lock.Lock()
		r.acked += len(safe)
		if err != nil {
			r.failed++
		}
		r.lock.Unlock()
	}
}

// A broker is killed three times while events pass through it. Every acknowledged
// event is processed, in the order of its account.
func TestBrokerKillLosesNoEvent(t *testing.T) {
	t.Parallel()
	realBroker(t) // this test kills a broker of its own
	dir := filepath.Join(t.TempDir(), "kafka")
	l := newLog(t, []string{script(t, "start", dir)}, func(c *topic.Config) { c.Pace = topic.Pace{} }) // as a service has it
	t.Cleanup(func() {
		if _, err := os.Stat(dir); err == nil {
			script(t, "stop", dir)
		}
	})
	got := newCollector()
	stopConsume := consume(t, secondInstance(t, l), got.process)
	publisher := &relay{log: l}
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		publisher.run(t, stop)
	}()
	for range 3 {
		got.await(t, got.different()+200)
		script(t, "kill", dir)
		script(t, "start", dir)
		begun := time.Now()
		got.await(t, got.different()+1)
		t.Logf("events came again %v after the broker's start", time.Since(begun).Round(time.Millisecond))
	}
	got.await(t, got.different()+200)
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
	if publisher.failed == 0 {
		t.Error("no call failed, so nothing was tried")
	}
}
