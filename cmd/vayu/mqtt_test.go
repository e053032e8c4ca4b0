//go:build integration

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"
)

// mqttKills is how often a service is killed between messages. Each kill costs a start.
const mqttKills = 3

// roofs describes the sensors of a test. BROKER is replaced.
const roofs = `
about: sensors on roofs
licence: CC0
attribution: Roofs
local: true
mqtt: {url: "mqtt://BROKER", topic: "roofs/{device}/air"}
time: {field: t, format: epoch}
averaging: 1m
station: {id: topic.device, name: topic.device, kind: sensor}
readings:
  pm25: {value: pm25, unit: µg/m³}
`

// startMQTT starts an MQTT broker of the test's own if VAYU_TEST_MQTT is set.
func startMQTT(t *testing.T) (address string) {
	t.Helper()
	if os.Getenv("VAYU_TEST_MQTT") == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("VAYU_TEST_MQTT is not set: CI needs Mosquitto")
		}
		t.Skip("VAYU_TEST_MQTT is not set; .ci/mosquitto starts a broker and prints it")
	}
	dir := filepath.Join(t.TempDir(), "mqtt")
	do := func(action string) string {
		cmd := exec.Command("../../.ci/mosquitto", action, dir)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf(".ci/mosquitto %s: %v", action, err)
		}
		return strings.TrimSpace(string(out))
	}
	t.Cleanup(func() { do("stop") })
	return do("start")
}

// No message is lost, and none is counted twice, when the service is killed between them.
func TestIntegrationNoMessageOfMQTTIsLost(t *testing.T) {
	t.Parallel()
	broker := startMQTT(t)
	sources, data := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(sources, "roofs.yaml"), []byte(strings.Replace(roofs, "BROKER", broker, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	client := paho.NewClient(paho.NewClientOptions().AddBroker("tcp://" + broker).SetClientID("publisher"))
	if token := client.Connect(); token.Wait() && token.Error() != nil {
		t.Fatal(token.Error())
	}
	defer client.Disconnect(0)

	begin, published := time.Now().Truncate(time.Minute).Add(-24*time.Hour), 0
	publish := func(n int) {
		t.Helper()
		for range n {
			at := begin.Add(time.Duration(published) * time.Minute).Unix()
			token := client.Publish(fmt.Sprintf("roofs/%d/air", published%3), 1, false, fmt.Sprintf(`{"t":%d,"pm25":%d}`, at, published%500))
			if token.Wait() && token.Error() != nil {
				t.Fatal(token.Error())
			}
			published++
		}
	}
	connected := func(r reply) bool { return r.metric(`vayu_stream_connected{source="roofs"}`) == 1 }
	for range mqttKills {
		s := start(t, data, "--sources", "roofs", "--source-dir", sources)
		s.eventually("", "/metrics", connected)
		publish(100)
		s.eventually("", "/metrics", func(r reply) bool { return r.metric(`vayu_stream_messages_total{outcome="read",source="roofs"}`) > 0 })
		publish(20) // not yet stored
		s.stop(syscall.SIGKILL)
		publish(30)
	}
	start(t, data, "--sources", "roofs", "--source-dir", sources)
	want := fmt.Sprintf("%d,%d", published, published)
	for limit := time.Now().Add(patience); ; {
		out, err := vayu(t, data, "sql", "--format", "csv", "SELECT count(), uniqExact(at) FROM vayu.reading FINAL WHERE source = 'roofs'")
		if err == nil && strings.HasSuffix(strings.TrimSpace(out), want) {
			return
		}
		if time.Now().After(limit) {
			t.Fatalf("%d messages were published, and ClickHouse has:\n%s%v", published, out, err)
		}
	}
}
