// Package topic writes and consumes a Kafka topic, and writes dead letters to a second topic, the dead topic. A write
// succeeds when all in-sync replicas have the messages. Offsets are committed after processing.
//
// Delivery is at least once. The client has no idempotent producer, so a write whose reply is lost is repeated. The
// consumer repeats messages that it processed without committing the offset.
package topic

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/segmentio/kafka-go"

	"vayu/internal/topic/broker"
)

// Config configures a Client. All fields but Pace, Log and Metrics are required.
type Config struct {
	broker.Settings
	Brokers []string // host:port
	// Name, Content and Worker are texts for logs and errors: the names of the topic, of its messages and of the
	// program that processes them, such as "the event log", "events", "the dispatcher".
	Name, Content, Worker string
	// Prefix begins the names of the metrics, such as vayu_eventlog.
	Prefix string
	// Section is the name of the configuration section with the Settings. Warnings name this section.
	Section string
	// Reasons are the values of the label `reason` of dead letters.
	Reasons []string
	Limits  Limits
	Pace    Pace // the zero value selects defaultPace
	Log     *slog.Logger
	Metrics prometheus.Registerer // nil for none
}

// Limits bound the batches that Consume passes on.
type Limits struct {
	Messages int
	Bytes    int // total size of the values; the last message of a batch may exceed it
	// Linger is how long a batch waits for more messages after its first message.
	Linger time.Duration
	// Ahead is the number of broker replies, of about 1 MiB each, that are read ahead while a batch is processed.
	Ahead int
}

// Pace has the timeouts and intervals of a Client. Tests shorten them.
type Pace struct {
	Write      time.Duration // timeout of Write
	Retry      time.Duration // first backoff after a failure; doubles up to maxRetry
	Watch      time.Duration // interval of checks for new partitions and the lag
	Truncation time.Duration // how long an offset may be beyond the end of the log before it is reset
}

// defaultPace returns the pace of a service. After a change of leaders, an offset may be beyond the end of the log
// for a short time. If the offset stays beyond the end for 30 s, the log was truncated.
func defaultPace() Pace {
	return Pace{Write: 10 * time.Second, Retry: 100 * time.Millisecond, Watch: 5 * time.Second, Truncation: 30 * time.Second}
}

// Client writes and consumes the messages of one topic. It is safe for concurrent use.
type Client struct {
	Config

	security  broker.Security
	transport *kafka.Transport // of the field `client`
	client    *kafka.Client    // for writes and metadata requests
	balancer  kafka.Murmur2Balancer
	made      atomic.Bool // both topics exist
	lag       lag
	metrics   *metrics
}

// New returns a Client without connecting. It fails if settings, files or broker addresses
// are invalid. It panics if a metric is already registered.
func New(config Config) (*Client, error) {
	faults := config.Validate()
	security, err := config.Security()
	if err != nil && len(faults) == 0 {
		faults = append(faults, err)
	}
	if len(config.Brokers) == 0 {
		faults = append(faults, errors.New("no broker is configured"))
	}
	for _, broker := range config.Brokers {
		if host, port, err := net.SplitHostPort(broker); err != nil || host == "" || port == "" {
			faults = append(faults, fmt.Errorf("broker %q is not host:port", broker))
		}
	}
	if err := errors.Join(faults...); err != nil {
		return nil, fmt.Errorf("configuring %s: %w", config.Name, err)
	}
	config.Log = cmp.Or(config.Log, slog.New(slog.DiscardHandler))
	config.Pace = cmp.Or(config.Pace, defaultPace())
	c := &Client{Config: config, security: security}
	c.lag.describe(config.Prefix)
	c.transport = c.newTransport()
	c.client = c.newClient(c.transport)
	c.metrics = newMetrics(c, config.Metrics)
	return c, nil
}

// metadataAge is the maximum age of cached partition leaders.
const metadataAge = 2 * time.Second

// newTransport returns a transport that reads metadata of the two topics only, because a
// cluster may have thousands of topics.
func (c *Client) newTransport() *kafka.Transport {
	return &kafka.Transport{
		ClientID:       broker.ClientID,
		MetadataTopics: []string{c.Topic, c.DeadTopic},
		MetadataTTL:    metadataAge,
		Dial:           c.security.Dial,
		SASL:           c.security.Login,
	}
}

// requestTimeout limits the time until a broker replies to a request.
const requestTimeout = 10 * time.Second

func (c *Client) newClient(transport *kafka.Transport) *kafka.Client {
	return &kafka.Client{Addr: kafka.TCP(c.Brokers...), Transport: transport, Timeout: requestTimeout}
}

// Close closes the idle connections of the writer. A later Write opens new ones.
func (c *Client) Close() error {
	c.transport.CloseIdleConnections()
	return nil
}
