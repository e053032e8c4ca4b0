package described

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/ingest"
	"vayu/ingest/stream"
	"vayu/internal/testing/realdata"
)

// decoded returns the readings of messages, sorted, and the number of messages of each outcome.
func decoded(t *testing.T, f File, now time.Time, messages ...stream.Message) (readings []string, outcomes map[stream.Outcome]int) {
	t.Helper()
	f.Env = anyKey
	d, err := Parse(f)
	if err != nil {
		t.Fatal(err)
	}
	batches, outcomes, err := d.Stream(func() time.Time { return now }).NewDecoder().Decode(messages)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range batches {
		for i := range b.Rows() {
			r := b.Reading(i)
			readings = append(readings, fmt.Sprintf("%s %s %s %g", r.Station, r.Parameter, r.At.Format("2006-01-02T15:04:05"), r.Value))
		}
		b.Release()
	}
	slices.Sort(readings)
	return readings, outcomes
}

// TestRecordedMessages reads messages of devices with the shipped descriptions.
func TestRecordedMessages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		description, topic, file string
		now                      time.Time
		want                     []string
	}{
		{"tasmota", "tele/roof/SENSOR", "mqtt/tasmota_pms5003.json", date(2026, 3, 8), []string{
			"tasmota-roof humidity 2026-03-07T07:24:34 24.4", "tasmota-roof pm1 2026-03-07T07:24:34 22", "tasmota-roof pm10 2026-03-07T07:24:34 49",
			"tasmota-roof pm25 2026-03-07T07:24:34 32", "tasmota-roof pressure 2026-03-07T07:24:34 1013.4", "tasmota-roof temperature 2026-03-07T07:24:34 20.7",
		}},
		{"tasmota", "tele/roof/SENSOR", "mqtt/tasmota_sds011_odd.json", date(2026, 3, 8), []string{ // PM2.5 above PM10 is a matter of the quality tests
			"tasmota-roof humidity 2023-05-20T19:36:38 53.1", "tasmota-roof pm10 2023-05-20T19:36:38 5.8", "tasmota-roof pm25 2023-05-20T19:36:38 11.8",
			"tasmota-roof pressure 2023-05-20T19:36:38 977", "tasmota-roof temperature 2023-05-20T19:36:38 20.5",
		}},
		{"the-things-stack", "v3/feinstaubgurke@ttn/devices/eui-0000000000000001/up", "mqtt/ttn_uplink_sps30.json", date(2024, 10, 10), []string{
			"thethings-feinstaubgurke-eui-0000000000000001 humidity 2024-10-09T07:44:58 86.553",
			"thethings-feinstaubgurke-eui-0000000000000001 pm1 2024-10-09T07:44:58 2.24",
			"thethings-feinstaubgurke-eui-0000000000000001 pm10 2024-10-09T07:44:58 2.36",
			"thethings-feinstaubgurke-eui-0000000000000001 pm25 2024-10-09T07:44:58 2.36",
			"thethings-feinstaubgurke-eui-0000000000000001 temperature 2024-10-09T07:44:58 10.878",
		}},
		{"the-things-stack", "v3/feinstaubgurke@ttn/devices/eui-0000000000000001/up", "mqtt/ttn_uplink_joined_no_values.json", date(2024, 10, 10), nil},
		{"zigbee2mqtt", "zigbee2mqtt/kitchen", "mqtt/zigbee2mqtt_vindstyrka_constructed.json", date(2026, 3, 8), []string{
			"zigbee2mqtt-kitchen humidity 2026-03-08T00:00:00 47", "zigbee2mqtt-kitchen pm25 2026-03-08T00:00:00 9", "zigbee2mqtt-kitchen temperature 2026-03-08T00:00:00 22",
		}},
		{"airgradient-mqtt", "airgradient/readings/x", "airgradient/device_current_measures_2.json", date(2026, 3, 8), []string{
			"airgradient-x co2 2026-03-08T00:00:00 566", "airgradient-x humidity 2026-03-08T00:00:00 32.51", "airgradient-x pm1 2026-03-08T00:00:00 0",
			"airgradient-x pm10 2026-03-08T00:00:00 2", "airgradient-x pm25 2026-03-08T00:00:00 6.83", "airgradient-x temperature 2026-03-08T00:00:00 20.35",
		}},
		{"airgradient-mqtt", "airgradient/readings/x", "airgradient/device_v1_go.json", date(2026, 3, 8), []string{
			"airgradient-x co2 2026-03-08T00:00:00 612", "airgradient-x humidity 2026-03-08T00:00:00 48.25", "airgradient-x pm1 2026-03-08T00:00:00 1.25",
			"airgradient-x pm10 2026-03-08T00:00:00 3.75", "airgradient-x pm25 2026-03-08T00:00:00 2.5", "airgradient-x temperature 2026-03-08T00:00:00 21.5",
		}},
		{"airgradient-mqtt", "airgradient/readings/x", "airgradient/device_measures_after_boot.json", date(2026, 3, 8), nil},
	} {
		t.Run(c.file, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(realdata.Path(t, "networks/"+c.file))
			if err != nil {
				t.Fatal(err)
			}
			got, _ := decoded(t, shippedAs(t, c.description), c.now, stream.Message{Topic: c.topic, Payload: text, At: c.now})
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("readings (-want +got):\n%s", diff)
			}
		})
	}
}

// devices describes two devices. Others are rejected.
const devices = `
name: roofs
about: devices
licence: CC0
attribution: a test
mqtt:
  url: mqtts://user:pass%20word@broker.example.com
  topic: ["air/{place}/{device}", "old/{device}"]
  retained: accept
time: {field: t, format: epoch}
station: {id: [topic.place, topic.device], name: listed.name, latitude: listed.lat, longitude: listed.lon}
readings:
  pm25: {value: 'sds."pm2.5"', factor: 0.1, unit: µg/m³}
devices-only: true
devices:
  delhi-one: {name: Roof one, lat: 28.6, lon: 77.2}
  two: {name: Roof two}
`

func TestDevicesAndFactors(t *testing.T) {
	t.Parallel()
	at := date(2026, 3, 8)
	payload := fmt.Appendf(nil, `{"t":%d,"sds":{"pm2.5":123}}`, at.Add(-time.Hour).Unix())
	got, outcomes := decoded(
		t, File{Path: "roofs.yaml", Text: []byte(devices)}, at,
		stream.Message{Topic: "air/delhi/one", Payload: payload, Retained: true}, stream.Message{Topic: "old/two", Payload: payload},
		stream.Message{Topic: "air/delhi/three", Payload: payload}, stream.Message{Topic: "air/delhi", Payload: payload},
	)
	want := []string{"roofs-delhi-one pm25 2026-03-07T23:00:00 12.3", "roofs-two pm25 2026-03-07T23:00:00 12.3"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("readings (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[stream.Outcome]int{stream.Read: 3, stream.Unmatched: 1}, outcomes); diff != "" {
		t.Errorf("outcomes (-want +got):\n%s", diff)
	}
}

func TestSettingsOfBroker(t *testing.T) {
	t.Parallel()
	d, err := Parse(File{Path: "roofs.yaml", Text: []byte(devices), Env: anyKey})
	if err != nil {
		t.Fatal(err)
	}
	s := d.Stream(time.Now).Subscription.Settings
	got := fmt.Sprint(s.Address, s.TLS, s.Username, s.Password, s.ClientID, s.Version, s.Filters, s.Session, s.Local)
	want := fmt.Sprint("broker.example.com:8883", true, "user", "pass word", "vayu-roofs", 5, []string{"air/+/+", "old/+"}, 24*time.Hour, false)
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if clean := d.clean("login with pass word failed"); strings.Contains(clean, "pass word") {
		t.Errorf("the password is in %q", clean)
	}
	received := strings.Replace(devices, "{field: t, format: epoch}", "{received: true}", 1)
	for version, want := range map[string]time.Duration{"5": time.Hour, "3.1.1": 0} {
		text := strings.Replace(received, "retained: accept", "version: "+version, 1)
		d, err := Parse(File{Path: "roofs.yaml", Text: []byte(text), Env: anyKey})
		if err != nil {
			t.Fatal(err)
		}
		if got := d.Stream(time.Now).Subscription.Settings.Session; got != want {
			t.Errorf("version %s without times: the broker keeps messages for %s, want %s", version, got, want)
		}
	}
}

// A reading counts for the minimum gap only after it is stored.
func TestGapFollowsStoredReadings(t *testing.T) {
	t.Parallel()
	f := shippedAs(t, "zigbee2mqtt")
	f.Env = anyKey
	d, err := Parse(f)
	if err != nil {
		t.Fatal(err)
	}
	at := date(2026, 3, 8)
	decoder := d.Stream(func() time.Time { return at.Add(time.Hour) }).NewDecoder()
	rows := func(minute int) (n int) {
		t.Helper()
		batches, _, err := decoder.Decode([]stream.Message{{Topic: "zigbee2mqtt/a", Payload: []byte(`{"pm25":9}`), At: at.Add(time.Duration(minute) * time.Minute)}})
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range batches {
			n += b.Rows()
			b.Release()
		}
		return n
	}
	for _, step := range []struct {
		minute, want int
		stored       bool
	}{{0, 1, false}, {0, 1, true}, {3, 0, true}, {5, 1, false}, {5, 1, true}, {6, 0, true}, {1, 0, true}} {
		if got := rows(step.minute); got != step.want {
			t.Errorf("minute %d: %d readings, want %d", step.minute, got, step.want)
		}
		if step.stored {
			decoder.Commit()
		}
	}
}

// FuzzMessages decodes arbitrary messages with a shipped description. Nothing may panic.
func FuzzMessages(f *testing.F) {
	f.Add("tele/roof/SENSOR", []byte(`{"Time":"2026-03-07T12:54:34","PMS5003":{"PM2.5":32}}`))
	f.Add("tele/roof/LWT", []byte("Offline"))
	f.Add("v3/a@b/devices/c/up", []byte(`{"uplink_message":{"decoded_payload":{"decoded":{"mc_2p5":1}},"rx_metadata":[{"time":"2026-03-07T12:54:34Z"}]}}`))
	f.Add("x/sensor/pm_2_5/state", []byte("12.5"))
	var decoders []interface {
		Decode([]stream.Message) ([]*ingest.Batch, map[stream.Outcome]int, error)
	}
	for _, name := range []string{"tasmota", "esphome", "zigbee2mqtt", "the-things-stack", "airgradient-mqtt"} {
		shipped := shippedAs(f, name)
		shipped.Env = anyKey
		d, err := Parse(shipped)
		if err != nil {
			f.Fatal(err)
		}
		decoders = append(decoders, d.Stream(time.Now).NewDecoder())
	}
	f.Fuzz(func(t *testing.T, topic string, payload []byte) {
		for _, d := range decoders {
			batches, _, err := d.Decode([]stream.Message{{Topic: topic, Payload: payload, At: time.Now()}})
			if err != nil {
				t.Error(err)
			}
			for _, b := range batches {
				b.Release()
			}
		}
	})
}
