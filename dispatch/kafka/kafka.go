// Package kafka publishes events to Kafka and consumes them. A write returns when all
// in-sync replicas have the events. Offsets are committed after processing.
//
// Delivery is at least once. The client has no idempotent producer, so a write whose reply is lost
// is repeated. The consumer repeats events that it processed without committing the offset. Events
// of an account are ordered, unless new partitions move the account's key to another partition.
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

	"vayu/dispatch/kafka/broker"
	"vayu/dispatch/outbox"
)

// Config configures a Log.
type Config struct {
	broker.Settings
	Brokers []string // host:port
	Log     *slog.Logger
	Metrics prometheus.Registerer // nil for none
}

// Log publishes and consumes events. It is safe for concurrent use.
type Log struct {
	Config

	pace          pace
	security      broker.Security
	transport     *kafka.Transport // for writes and metadata requests
	addr          net.Addr
	balancer      kafka.Murmur2Balancer
	made          atomic.Bool // both topics exist
	lag           lag
	topicWarnings topicWarnings // the last warnings about the topics
	metrics       *metrics
}

// pace has the timeouts and intervals of a Log. Tests shorten them.
type pace struct {
	publish    time.Duration // timeout of Publish
	retry      time.Duration // first backoff after a failure; doubles up to maxRetry
	watch      time.Duration // interval of checks for new partitions and the lag
	truncation time.Duration // how long an offset may be beyond the end of the log
}

// newPace returns the pace of a service. After a change of leaders, an offset may be beyond
// the end of the log for a short time. If it is so for half a minute, the log was
// truncated.
func newPace() pace {
	return pace{publish: 10 * time.Second, retry: 100 * time.Millisecond, watch: 5 * time.Second, truncation: 30 * time.Second}
}

// New returns a Log without connecting. It fails if settings, files or broker addresses
// are invalid, or if a metric is already registered.
func New(c Config) (*Log, error) {
	faults := c.Validate()
	security, err := c.Security()
	if err != nil && len(faults) == 0 {
		faults = append(faults, err)
	}
	if len(c.Brokers) == 0 {
		faults = append(faults, errors.New("no broker is configured"))
	}
	for _, broker := range c.Brokers {
		if host, port, err := net.SplitHostPort(broker); err != nil || host == "" || port == "" {
			faults = append(faults, fmt.Errorf("broker %q is not host:port", broker))
		}
	}
	if err := errors.Join(faults...); err != nil {
		return nil, fmt.Errorf("configuring the event log: %w", err)
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	l := &Log{Config: c, pace: newPace(), security: security, addr: kafka.TCP(c.Brokers...)}
	l.transport = l.newTransport()
	if l.metrics, err = newMetrics(l, c.Metrics); err != nil {
		return nil, err
	}
	return l, nil
}

// metadataAge is the maximum age of cached partition leaders.
const metadataAge = 2 * time.Second

// newTransport returns a transport that reads metadata of the two topics only, because a
// cluster may have thousands of topics.
func (l *Log) newTransport() *kafka.Transport {
	return &kafka.Transport{
		ClientID:       broker.ClientID,
		MetadataTopics: []string{l.Topic, l.DeadTopic},
		MetadataTTL:    metadataAge,
		Dial:           l.security.Dial,
		SASL:           l.security.Login,
	}
}

// Close closes the idle connections of the writer. A later Publish opens new ones.
func (l *Log) Close() error {
	l.transport.CloseIdleConnections()
	return nil
}

// Publish writes events to the topic, with the account as key. It returns the events that
// all in-sync replicas have. It times out after ten seconds. Events in flight may then be in
// the log, and a retry duplicates them. After an event that fails, Publish acknowledges no
// later event of the account. The error of an event that exceeds the size limit is
// ErrTooLong. Publish implements outbox.Publisher.
func (l *Log) Publish(ctx context.Context, batch []outbox.Event) (safe []outbox.Event, err error) {
	if len(batch) == 0 {
		return nil, nil
	}
	records := make([]kafka.Message, len(batch))
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
