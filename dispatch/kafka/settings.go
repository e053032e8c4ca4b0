package kafka

import (
	"regexp"

	"vayu/internal/config"
)

// Settings say where the log is, as an operator sets them.
type Settings struct {
	Topic      string `koanf:"topic" help:"topic of the events; made when it is not there"`
	DeadTopic  string `koanf:"dead-topic" help:"topic of messages that cannot be understood, with the reason"`
	Group      string `koanf:"group" help:"consumer group of the dispatchers"`
	Partitions int    `koanf:"partitions" help:"partitions of a topic that is made"`
	Replicas   int    `koanf:"replicas" help:"replicas of a topic that is made"`

	TLS      config.Switch `koanf:"tls" help:"on or off: whether the brokers are spoken to by TLS"`
	CA       string        `koanf:"ca" help:"PEM file of the authorities of the brokers; those of the system when empty"`
	Cert     string        `koanf:"cert" help:"PEM file of the certificate that brokers are shown; empty for none"`
	Key      string        `koanf:"key" help:"PEM file of the key of that certificate"`
	SASL     string        `koanf:"sasl" help:"how to log in: scram-sha-512, scram-sha-256, plain (by TLS only), or empty for not at all"`
	Username string        `koanf:"username" help:"whom to log in as"`
	Password config.Secret `koanf:"password" help:"password of the login; better in the environment than in a file"`
}

// DefaultSettings fit one broker.
func DefaultSettings() Settings {
	return Settings{Topic: "vayu.events", DeadTopic: "vayu.events.dead", Group: "vayu.dispatch", Partitions: 12, Replicas: 1}
}

// legalTopic is what Kafka takes for the name of a topic, and "." and ".." it
// does not (org.apache.kafka.common.internals.Topic).
var legalTopic = regexp.MustCompile(`^[a-zA-Z0-9._-]{1,249}$`)

// legalGroup is stricter than Kafka, which takes everything: the name is shown in
// tools and logs.
var legalGroup = regexp.MustCompile(`^[a-zA-Z0-9._-]{1,255}$`)

// mostPartitions is more than one service can use, and far less than what brings
// a broker into trouble; mostReplicas is what the protocol can say.
const (
	mostPartitions = 1000
	mostReplicas   = 1<<15 - 1
)

// Validate reports every fault at once, each naming its key.
func (s Settings) Validate() []error {
	var faults []error
	for _, topic := range []struct{ key, name string }{{"topic", s.Topic}, {"dead-topic", s.DeadTopic}} {
		if !legalTopic.MatchString(topic.name) || topic.name == "." || topic.name == ".." {
			faults = append(faults, config.Invalid(topic.key, "%q is no name of a topic: 1 to 249 of a-z, A-Z, 0-9, dot, underscore and hyphen", topic.name))
		}
	}
	if s.Topic == s.DeadTopic {
		faults = append(faults, config.Invalid("dead-topic", "must be another topic than that of the events"))
	}
	if !legalGroup.MatchString(s.Group) {
		faults = append(faults, config.Invalid("group", "%q is no name of a group: 1 to 255 of a-z, A-Z, 0-9, dot, underscore and hyphen", s.Group))
	}
	if s.Partitions < 1 || s.Partitions > mostPartitions {
		faults = append(faults, config.Invalid("partitions", "must be from 1 to %d", mostPartitions))
	}
	if s.Replicas < 1 || s.Replicas > mostReplicas {
		faults = append(faults, config.Invalid("replicas", "must be from 1 to %d", mostReplicas))
	}
	return append(append(faults, s.validateTLS()...), s.validateLogin()...)
}
