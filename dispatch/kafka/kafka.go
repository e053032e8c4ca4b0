// Package kafka brings events through Kafka: a writer that returns when every
// replica has them, and a reader that forgets nothing before it is told to.
//
// An event may come twice, and never not at all. The writer doubles what it sent
// when the answer did not come, because the client has no idempotent producer:
// the broker may have kept what it could not confirm. The reader doubles what was
// taken and whose place in the log could not be committed. Events of one account
// come in their order, except across a growth of the topic, which moves keys to
// other partitions.
package kafka

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/segmentio/kafka-go"

	"vayu/dispatch/outbox"
)

// Config is what a Log is made of.
type Config struct {
	Settings
	Brokers []string // host:port
	Log     *slog.Logger
	Metrics prometheus.Registerer // nil for none
}

// Log writes and reads events.
type Log struct {
	Config

	pace      pace
	secure    secure
	transport *kafka.Transport // of the writer, and of questions about the log
	addr      net.Addr
	balancer  kafka.Murmur2Balancer
	made      atomic.Bool // both topics are there
	lag       lag
	said      said // about the topics
	metrics   *metrics
}

// pace is how fast a Log gives up and looks again. Tests shorten it.
type pace struct {
	publish    time.Duration // until Publish gives up
	retry      time.Duration // the first pause after a failure; doubles up to retryMost
	watch      time.Duration // between looks for new partitions and for the lag
	truncation time.Duration // that a place behind the end of the log may last
}

// newPace is the pace of a service. A place behind the end of the log is normal
// for moments after a change of leaders, and afterwards says that the log lost
// its end: half a minute is longer than a leader needs to hear from its replicas.
func newPace() pace {
	return pace{publish: 10 * time.Second, retry: 100 * time.Millisecond, watch: 5 * time.Second, truncation: 30 * time.Second}
}

// New connects to nothing yet. It fails when the settings, the files that they
// name or the brokers' addresses are faulty, and when a metric is registered
// already.
func New(c Config) (*Log, error) {
	faults := c.Validate()
	secure, err := c.secure()
	if err != nil && len(faults) == 0 {
		faults = append(faults, err)
	}
	if len(c.Brokers) == 0 {
		faults = append(faults, errors.New("no broker is named"))
	}
	for _, broker := range c.Brokers {
		if host, port, err := net.SplitHostPort(broker); err != nil || host == "" || port == "" {
			faults = append(faults, fmt.Errorf("broker %q is not host:port", broker))
		}
	}
	if err := errors.Join(faults...); err != nil {
		return nil, fmt.Errorf("making the event log: %w", err)
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	l := &Log{Config: c, pace: newPace(), secure: secure, addr: kafka.TCP(c.Brokers...)}
	l.transport = l.newTransport()
	if l.metrics, err = newMetrics(l, c.Metrics); err != nil {
		return nil, err
	}
	return l, nil
}

// metadataAge is how old what a transport knows of leaders is at most. It asks for it
// in half of that on average, and waits that long for the answer.
const metadataAge = 2 * time.Second

// newTransport knows the two topics only: a cluster may hold thousands.
func (l *Log) newTransport() *kafka.Transport {
	return &kafka.Transport{
		ClientID:       clientID,
		MetadataTopics: []string{l.Topic, l.DeadTopic},
		MetadataTTL:    metadataAge,
		Dial:           l.secure.dial,
		SASL:           l.secure.login,
	}
}

// Close ends the connections of the writer. A Publish that is called later opens
// new ones.
func (l *Log) Close() error {
	l.transport.CloseIdleConnections()
	return nil
}

// Publish implements outbox.Publisher: the key of a message is its account, and
// what is returned is on every replica that has to have it. It gives up after ten
// seconds. What it was sending then may be in the log nevertheless, so bringing it
// again can double it. An event that fails holds back the later ones of its
// account, so that none overtakes it. The error of an event that no broker will
// ever take because it is over-long is ErrTooLong.
func (l *Log) Publish(ctx context.Context, batch []outbox.Event) (safe []outbox.Event, err error) {
	if len(batch) == 0 {
		return nil, nil
	}
	records := make([]record, len(batch))
	for i, e := range batch {
		records[i] = encode(e)
	}
	acked, err := l.write(ctx, l.Topic, records)
	for i, is := range acked {
		if is {
			safe = append(safe, batch[i])
		}
	}
	l.metrics.published.Add(float64(len(safe)))
	if err != nil {
		l.metrics.publishFailures.Inc()
		return safe, fmt.Errorf("publishing %d of %d events: %w", len(batch)-len(safe), len(batch), explain(err))
	}
	return safe, nil
}
