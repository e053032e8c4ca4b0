// Package messages turns messages of an MQTT broker into readings. A description (YAML) defines the topics and the
// mapping.
package messages

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"vayu/ingest/source/described/mapping"
	"vayu/ingest/source/described/pattern"
	"vayu/ingest/source/described/record"
	"vayu/ingest/stream/mqtt"
	"vayu/internal/config/section"
)

// Subscription is the part of a source's description that defines its broker and its messages. It is immutable.
type Subscription struct {
	// Settings has the connection to the broker, and the topics.
	Settings mqtt.Settings
	// MaxSilence is how old the newest reading may be before the source is reported as silent.
	MaxSilence time.Duration

	topics      []*pattern.Pattern
	text        bool          // a payload is a single value in plain text
	retained    bool          // accept retained messages
	needs       []record.Path // ignore a message that has none of these fields; nil for no such rule
	gap         time.Duration
	available   *availability // nil for none
	devices     map[string]map[string]string
	devicesOnly bool
	mapping     *mapping.Mapping
}

// availability is the topic to which devices report whether they are available.
type availability struct {
	topic   *pattern.Pattern
	field   []record.Path // paths of the state in a JSON payload; empty if the payload is the state
	offline []string
}

const (
	defaultSession    = 24 * time.Hour
	mostSession       = 31 * 24 * time.Hour
	defaultMaxSilence = 6 * time.Hour
	mostMaxSilence    = 31 * 24 * time.Hour
	mostDevices       = 10_000
	mostClientID      = 64 // bytes; brokers of MQTT 3.1.1 may accept only 23
)

// Read reads the keys `mqtt`, `devices` and `max-silence` of a description. m is the description's mapping.
func Read(root *section.Section, name string, local bool, m *mapping.Mapping) *Subscription {
	s := &Subscription{mapping: m, MaxSilence: root.Duration("max-silence", defaultMaxSilence, time.Minute, mostMaxSilence)}
	q := root.Section("mqtt")
	s.Settings = mqtt.Settings{
		ClientID: q.Text("client-id"), CA: q.Text("ca"), Cert: q.Text("cert"), Key: q.Text("key"), Local: local, Version: mqtt.Version5,
	}
	if q.Choice("version", "5", "5", "3.1.1") == "3.1.1" {
		s.Settings.Version = mqtt.Version311
	}
	if s.Settings.ClientID == "" {
		s.Settings.ClientID = "vayu-" + name
	} else if len(s.Settings.ClientID) > mostClientID {
		q.Faultf("client-id", "must have at most %d bytes", mostClientID)
	}
	if (s.Settings.Cert == "") != (s.Settings.Key == "") {
		q.Faultf("cert", "needs key, and key needs cert")
	}
	s.readAddress(q)
	for _, e := range q.List("topic") {
		s.topics = append(s.topics, s.readTopic(q, e))
	}
	if len(s.topics) == 0 {
		q.Faultf("topic", "is missing: the topic of the messages, such as tele/{device}/SENSOR")
	}
	s.text = q.Choice("payload", "json", "json", "text") == "text"
	s.retained = q.Choice("retained", "skip", "skip", "accept") == "accept"
	s.needs = record.ReadPaths(q, "needs")
	s.gap = q.Duration("minimum-gap", 0, time.Second, 24*time.Hour)
	s.Settings.Session = q.Duration("session", s.defaultSession(), 0, mostSession)
	s.readAvailability(q.Section("availability"))
	s.readDevices(root)
	return s
}

// defaultSession returns how long the broker keeps messages while the service is down. If a message has no time of its
// own, it gets the time of its arrival, which is wrong after a delay. With MQTT 5, the session of these messages lasts
// only for the longest averaging interval. MQTT 3.1.1 cannot limit a session, so the broker keeps none of them.
func (s *Subscription) defaultSession() time.Duration {
	switch {
	case !s.mapping.Received():
		return defaultSession
	case s.Settings.Version == mqtt.Version5:
		return s.mapping.LongestAveraging()
	}
	return 0
}

// readAddress reads the keys `url`, `username` and `password`.
func (s *Subscription) readAddress(q *section.Section) {
	text := q.Required("url")
	s.Settings.Username, s.Settings.Password = q.Text("username"), q.Text("password")
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "mqtt" && u.Scheme != "mqtts" || u.Hostname() == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
		if text != "" {
			q.Faultf("url", "must be an address such as mqtts://broker.example.com:8883") // without the text, which may have a password
		}
		return
	}
	port := "1883"
	if s.Settings.TLS = u.Scheme == "mqtts"; s.Settings.TLS {
		port = "8883"
	}
	if u.Port() != "" {
		port = u.Port()
	}
	s.Settings.Address = net.JoinHostPort(u.Hostname(), port)
	if u.User != nil {
		s.Settings.Username = u.User.Username()
		s.Settings.Password, _ = u.User.Password()
	}
	if !s.Settings.TLS && !s.Settings.Local {
		q.Faultf("url", "must begin with mqtts://, unless local: true allows brokers in the local network")
	}
	if !s.Settings.TLS && (s.Settings.CA != "" || s.Settings.Cert != "") {
		q.Faultf("ca", "and cert are of no use without mqtts://")
	}
}

// readTopic reads a pattern of topics, and adds an MQTT filter for these topics to the settings.
func (s *Subscription) readTopic(q *section.Section, e section.Entry) *pattern.Pattern {
	p, err := pattern.Path(e.Text)
	if err != nil {
		q.FaultAt(e.Line, "topic", err)
		return nil
	}
	filter, err := filterOf(e.Text)
	if err != nil {
		q.FaultAt(e.Line, "topic", err)
	}
	if !slices.Contains(s.Settings.Filters, filter) {
		s.Settings.Filters = append(s.Settings.Filters, filter)
	}
	return p
}

// filterOf returns an MQTT topic filter for a pattern. If a level of the pattern has a field, the level becomes +,
// which matches any text. So the filter may match more topics than the pattern, and the decoder compares received
// topics with the pattern.
func filterOf(text string) (string, error) {
	levels := strings.Split(text, "/")
	for i, level := range levels {
		switch {
		case level == "**" || strings.ContainsAny(level, "+#"):
			return "", fmt.Errorf("must have fields such as {device} in place of +, # and **")
		case strings.ContainsAny(level, "{*"):
			levels[i] = "+"
		}
	}
	return strings.Join(levels, "/"), nil
}

func (s *Subscription) readAvailability(a *section.Section) {
	if !a.Present() {
		return
	}
	s.available = &availability{field: record.ReadPaths(a, "field")}
	for _, e := range a.List("offline") {
		s.available.offline = append(s.available.offline, e.Text)
	}
	if len(s.available.offline) == 0 {
		a.Faultf("offline", "is missing: the payload of a device that is not available")
	}
	topics := a.List("topic")
	if len(topics) != 1 {
		a.Faultf("topic", "is missing: the topic of the states, such as tele/{device}/LWT")
		return
	}
	s.available.topic = s.readTopic(a, topics[0])
	if s.available.topic == nil {
		return
	}
	for _, field := range s.available.topic.Fields() {
		if slices.ContainsFunc(s.topics, func(p *pattern.Pattern) bool { return p != nil && !slices.Contains(p.Fields(), field) }) {
			a.Faultf("topic", "has the field {%s}, which a topic of the messages lacks", field)
		}
	}
}

// readDevices reads the key `devices-only` and the section `devices`, which states names, positions and other fields.
func (s *Subscription) readDevices(root *section.Section) {
	all := root.Section("devices")
	s.devicesOnly = root.Bool("devices-only", false)
	if !all.Present() {
		if s.devicesOnly {
			root.Faultf("devices-only", "needs devices")
		}
		return
	}
	if len(all.Names()) > mostDevices {
		root.Faultf("devices", "must be at most %d", mostDevices)
	}
	s.devices = make(map[string]map[string]string)
	for _, id := range all.Names() {
		fields := make(map[string]string)
		for _, e := range all.Section(id).Entries() {
			fields[e.Name] = e.Text
		}
		s.devices[id] = fields
	}
}
