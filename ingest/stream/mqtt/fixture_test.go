package mqtt

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	paho3 "github.com/eclipse/paho.mqtt.golang"

	"vayu/ingest/stream"
	"vayu/internal/testing/fixture"
)

// brokerScript starts, halts and stops real brokers.
const brokerScript = "../../../.ci/mosquitto"

// versions are the versions of the protocol by their names.
var versions = map[string]int{"3.1.1": Version311, "5": Version5}

// script runs an action of the broker script and returns what it prints.
func script(tb testing.TB, arguments ...string) string {
	tb.Helper()
	command := exec.Command(brokerScript, arguments...)
	command.Stderr = tb.Output()
	out, err := command.Output()
	if err != nil {
		tb.Fatalf("%s %v: %v", brokerScript, arguments, err)
	}
	return strings.TrimSpace(string(out))
}

// sharedBroker returns the address of a broker that other tests use, too.
func sharedBroker(tb testing.TB) string {
	tb.Helper()
	switch broker := os.Getenv("VAYU_TEST_MQTT"); {
	case broker != "":
		return broker
	case os.Getenv("CI") == "true":
		tb.Fatal("VAYU_TEST_MQTT is not set, and in CI nothing is skipped")
	}
	tb.Skip("VAYU_TEST_MQTT is not set; .ci/mosquitto starts a broker")
	return ""
}

// ownBroker starts a broker of the test's own, and returns its folder and its address.
func ownBroker(tb testing.TB, options ...string) (dir, address string) {
	tb.Helper()
	sharedBroker(tb) // there is a Mosquitto to start
	dir = filepath.Join(tb.TempDir(), "mqtt")
	tb.Cleanup(func() { script(tb, "stop", dir) })
	return dir, script(tb, append([]string{"start", dir}, options...)...)
}

// settingsOf returns settings with a client id and a topic of the test's own.
func settingsOf(tb testing.TB, address string, version int) Settings {
	tb.Helper()
	id := strings.NewReplacer("/", "-", ".", "").Replace(tb.Name())
	return Settings{
		Address: address, ClientID: fmt.Sprintf("%s-%d", id, time.Now().UnixNano()), Version: version,
		Filters: []string{fmt.Sprintf("%s/%d/+", id, time.Now().UnixNano())}, Session: time.Hour, Local: true,
	}
}

// topic returns the topic of a name under the filter of settings.
func (s *Settings) topic(name string) string { return strings.TrimSuffix(s.Filters[0], "+") + name }

// publisher returns a client that publishes with QoS 1.
func publisher(tb testing.TB, s *Settings) func(topic, payload string, retained bool) {
	tb.Helper()
	client := paho3.NewClient(paho3.NewClientOptions().AddBroker("tcp://" + s.Address).SetConnectRetry(true).SetAutoReconnect(true).SetMaxReconnectInterval(100 * time.Millisecond).
		SetClientID(s.ClientID + "-publisher").SetUsername(s.Username).SetPassword(s.Password))
	if token := client.Connect(); token.Wait() && token.Error() != nil {
		tb.Fatal(token.Error())
	}
	tb.Cleanup(func() { client.Disconnect(0) })
	return func(topic, payload string, retained bool) {
		token := client.Publish(topic, 1, retained, payload)
		if !token.WaitTimeout(time.Minute) || token.Error() != nil {
			tb.Errorf("publishing %s: %v", payload, token.Error())
		}
	}
}

// collector is a store of messages that can fail.
type collector struct {
	mu       sync.Mutex
	payloads map[string]int // how often each was stored
	retained map[string]bool
	failing  error
	attempts int
}

func newCollector() *collector {
	return &collector{payloads: make(map[string]int), retained: make(map[string]bool)}
}

var errStore = errors.New("the store is away")

func (c *collector) process(_ context.Context, batch []stream.Message) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.attempts++
	if c.failing != nil {
		return c.failing
	}
	for _, m := range batch {
		c.payloads[string(m.Payload)]++
		c.retained[string(m.Payload)] = m.Retained
	}
	return nil
}

func (c *collector) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failing = err
}

// stored returns the number of different payloads, and of all.
func (c *collector) stored() (different, all int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.payloads {
		all += n
	}
	return len(c.payloads), all
}

func (c *collector) await(tb testing.TB, want int) {
	tb.Helper()
	fixture.Eventually(tb, fmt.Sprintf("%d messages are stored", want), func() bool { n, _ := c.stored(); return n == want })
}

// running is a subscriber that runs.
type running struct {
	mu        sync.Mutex
	connected bool
	lost      []error
	repeated  int
	stop      func()
}

// start runs a subscriber until the test ends, or stop is called.
func start(tb testing.TB, s Settings, c *collector) *running {
	tb.Helper()
	r := &running{}
	set := func(do func()) {
		r.mu.Lock()
		defer r.mu.Unlock()
		do()
	}
	subscriber := Subscriber{
		Settings: s, Process: c.process, Name: "test", Log: slog.New(slog.DiscardHandler),
		Connected: func(is bool) { set(func() { r.connected = is }) },
		Failed:    func(err error) { set(func() { r.lost = append(r.lost, err) }) },
		Repeated:  func() { set(func() { r.repeated++ }) },
	}
	r.stop = fixture.Run(tb, subscriber.Run)
	return r
}

func (r *running) isConnected() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.connected
}

func (r *running) failures() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.lost)
}

// awaitConnection waits until the subscriber is connected.
func (r *running) awaitConnection(tb testing.TB) {
	tb.Helper()
	fixture.Eventually(tb, "the subscriber is connected", r.isConnected)
}
