package readinglog

import "vayu/internal/topic/broker"

// Settings are the settings of the topic of readings. The brokers are those of the event log.
type Settings struct {
	Topic      string `yaml:"topic" help:"topic of readings that accounts send through Kafka; created if it does not exist; empty for none"`
	DeadTopic  string `yaml:"dead-topic" help:"topic of records with rejected readings, with the reason"`
	Group      string `yaml:"group" help:"consumer group of the instances with the role ingest"`
	Partitions int    `yaml:"partitions" help:"partitions of a topic that is created"`
	Replicas   int    `yaml:"replicas" help:"replicas of a topic that is created"`
}

// DefaultSettings returns settings that work with a single broker.
func DefaultSettings() Settings {
	return Settings{Topic: "vayu.readings", DeadTopic: "vayu.readings.dead", Group: "vayu.ingest", Partitions: 12, Replicas: 1}
}

// Validate returns all errors. Each error names the key of the invalid setting. Validate implements config.Validator.
func (s Settings) Validate() []error {
	if s.Topic == "" {
		return nil
	}
	return s.at(broker.Settings{}).Validate()
}

// at returns the given connection settings with the topic, dead-letter topic, group, partitions and replicas of s.
func (s Settings) at(connection broker.Settings) broker.Settings {
	connection.Topic, connection.DeadTopic, connection.Group = s.Topic, s.DeadTopic, s.Group
	connection.Partitions, connection.Replicas = s.Partitions, s.Replicas
	return connection
}
