// Package eventlog brings events through Kafka: a writer that returns when every
// replica has them, and a reader that forgets nothing before it is told to.
package eventlog

import (
	"context"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/outbox"
)

// Settings say where the log is, as an operator sets them.
type Settings struct {
	Topic      string `koanf:"topic" help:"topic of the events; made when it is not there"`
	DeadTopic  string `koanf:"dead-topic" help:"topic of messages that cannot be understood, with the reason"`
	Group      string `koanf:"group" help:"consumer group of the dispatchers"`
	Partitions int    `koanf:"partitions" help:"partitions of a topic that is made"`
	Replicas   int    `koanf:"replicas" help:"replicas of a topic that is made"`
}

// DefaultSettings fit one broker.
func DefaultSettings() Settings {
	return Settings{Topic: "vayu.events", DeadTopic: "vayu.events.dead", Group: "vayu.dispatch", Partitions: 12, Replicas: 1}
}

// Config is what a Log is made of.
type Config struct {
	Settings
	Brokers []string // host:port
	Log     *slog.Logger
	Metrics prometheus.Registerer
}

// Log writes and reads events.
type Log struct{ Config }

// New connects to nothing yet.
func New(c Config) (*Log, error) { panic("not written yet") }

// Publish implements outbox.Publisher: the key of a message is its account, and
// what is returned is on every replica that has to have it.
func (l *Log) Publish(ctx context.Context, batch []outbox.Event) (safe []outbox.Event, err error) {
	panic("not written yet")
}

// Check asks the brokers whether they answer.
func (l *Log) Check(ctx context.Context) error { panic("not written yet") }

// Message is one message as it was read.
type Message struct {
	Event outbox.Event // when Fault is nil
	// Fault says why the message is no event.
	Fault error
}

// Consume reads as a member of the group until ctx ends: it hands over batches,
// and moves the group's place behind a batch when take has returned nil. What
// take refuses with an error is handed over again, and so is what another member
// had not finished: a message may come twice, and never not at all. Messages that
// are no events, and those that bury returns, go to the dead topic with their
// reason before the place is moved.
func (l *Log) Consume(ctx context.Context, take func(ctx context.Context, batch []outbox.Event) (buried map[string]error, err error)) error {
	panic("not written yet")
}

// Close ends the connections of the writer.
func (l *Log) Close() error { panic("not written yet") }
