// Package broker has the settings of Kafka topics, such as the event log, and connects to Kafka brokers with them.
package broker

import (
	"regexp"

	"vayu/internal/config"
)

// Settings are the operator's settings of a topic, of its topic of dead letters, and of the connection to the brokers.
type Settings struct {
	Topic      string `yaml:"topic" help:"topic of the events; created if it does not exist"`
	DeadTopic  string `yaml:"dead-topic" help:"topic of dead letters: messages that cannot be processed, with the reason"`
	Group      string `yaml:"group" help:"consumer group of the dispatchers"`
	Partitions int    `yaml:"partitions" help:"partitions of a topic that is created"`
	Replicas   int    `yaml:"replicas" help:"replicas of a topic that is created"`

	TLS      config.Switch `yaml:"tls" help:"on or off: whether to connect to the brokers with TLS"`
	CA       string        `yaml:"ca" help:"PEM file of certificate authorities of the brokers; empty for those of the system"`
	Cert     string        `yaml:"cert" help:"PEM file of the client certificate; empty for none"`
	Key      string        `yaml:"key" help:"PEM file of the key of the client certificate"`
	SASL     string        `yaml:"sasl" help:"login mechanism: scram-sha-512, scram-sha-256, plain (with TLS only), or empty for no login"`
	Username string        `yaml:"username" help:"user name of the login"`
	Password config.Secret `yaml:"password" help:"password of the login; better in the environment than in a file"`
}

// DefaultSettings returns settings for a single broker.
func DefaultSettings() Settings {
	return Settings{Topic: "vayu.events", DeadTopic: "vayu.events.dead", Group: "vayu.dispatch", Partitions: 12, Replicas: 1}
}

// legalTopic matches the topic names that Kafka accepts (org.apache.kafka.common.internals.Topic). It also matches "."
// and "..", which Kafka rejects.
var legalTopic = regexp.MustCompile(`^[a-zA-Z0-9._-]{1,249}$`)

// legalGroup matches the group names that Vayu accepts. Kafka accepts more, but these are readable in tools and logs.
var legalGroup = regexp.MustCompile(`^[a-zA-Z0-9._-]{1,255}$`)

const (
	maxPartitions = 1000      // more than one service can use, and far fewer than brokers support
	maxReplicas   = 1<<15 - 1 // limit of the protocol
)

// Validate returns all errors, each naming its key.
func (s Settings) Validate() []error {
	var f config.Faults
	for _, topic := range []struct{ key, name string }{{"topic", s.Topic}, {"dead-topic", s.DeadTopic}} {
		f.Check(legalTopic.MatchString(topic.name) && topic.name != "." && topic.name != "..", topic.key,
			"%q is not a valid topic name: use 1 to 249 of a-z, A-Z, 0-9, dot, underscore and hyphen", topic.name)
	}
	f.Check(s.Topic != s.DeadTopic, "dead-topic", "must differ from the topic of the events")
	f.Check(legalGroup.MatchString(s.Group), "group", "%q is not a valid group name: use 1 to 255 of a-z, A-Z, 0-9, dot, underscore and hyphen", s.Group)
	f.Check(s.Partitions >= 1 && s.Partitions <= maxPartitions, "partitions", "must be from 1 to %d", maxPartitions)
	f.Check(s.Replicas >= 1 && s.Replicas <= maxReplicas, "replicas", "must be from 1 to %d", maxReplicas)
	s.checkTLS(&f)
	s.checkLogin(&f)
	return f
}
