//go:build integration

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A killed group member is missing for seconds, and a broker for longer: the numbers of
// kills are low.
const (
	kafkaKills  = 5
	brokerKills = 3
)

// kafkaBroker is a Kafka for one test, which kills it.
type kafkaBroker struct {
	t       *testing.T
	dir     string
	address string
}

// startBroker starts a Kafka if VAYU_TEST_KAFKA is set.
func startBroker(t *testing.T) *kafkaBroker {
	t.Helper()
	if os.Getenv("VAYU_TEST_KAFKA") == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("VAYU_TEST_KAFKA is not set: CI needs Kafka")
		}
		t.Skip("VAYU_TEST_KAFKA is not set; .ci/kafka starts a broker and prints it")
	}
	dir, err := os.MkdirTemp("", "vayu-kafka-")
	if err != nil {
		t.Fatal(err)
	}
	b := &kafkaBroker{t: t, dir: dir}
	b.address = b.do("start")
	t.Cleanup(func() { b.do("stop") })
	return b
}

// do runs an action of .ci/kafka and returns its output.
func (b *kafkaBroker) do(action string) string {
	b.t.Helper()
	script, err := filepath.Abs("../../.ci/kafka")
	if err != nil {
		b.t.Fatal(err)
	}
	cmd := exec.Command(script, action, b.dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		b.t.Fatalf(".ci/kafka %s: %v", action, err)
	}
	return strings.TrimSpace(string(out))
}

// No event is lost through Kafka when the service and then the broker are killed.
func TestIntegrationNoEventIsLostThroughKafka(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	r := receive(t, nil)
	flags := withoutEngine(r.flags("--kafka", b.address)...)
	s := serve(t, t.TempDir(), flags...)
	s.subscribe(s.live, r, "/", `"payment.succeeded"`)
	killAndCount(t, r, s.fire("--rate", "500", "--count", "0"), s, killCount(t, kafkaKills), flags)
}

func TestIntegrationNoEventIsLostWhenTheBrokerIsKilled(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	r := receive(t, nil)
	s := serve(t, t.TempDir(), r.flags("--kafka", b.address)...)
	s.subscribe(s.live, r, "/", `"payment.succeeded"`)
	fire := s.fire("--rate", "200", "--count", "0")
	for range killCount(t, brokerKills) {
		all, _ := r.deliveries()
		r.wait("deliveries", func(now []received) bool { return len(now) >= len(all)+50 })
		b.do("kill")
		s.eventually("", "/readyz", func(r reply) bool { return r.body["kafka"] != "ok" })
		b.do("start")
	}
	fire.interrupt()
	want := fire.committed()
	all, again := r.waitEvents(want)
	t.Logf("%d events committed, %d deliveries: %d came again", want, len(all), again)
	s.eventually("", "/readyz", func(r reply) bool {
		events, _ := r.body["events"].(map[string]any)
		return r.body["kafka"] == "ok" && events["waiting"] == 0.0
	})
}
