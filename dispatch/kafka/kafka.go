// Package kafka publishes events to a Kafka topic and consumes them. A message that is not an event, or that the
// dispatcher rejects, goes to the dead topic.
//
// Delivery is at least once. Events of an account are ordered, unless new partitions of the topic move the account's
// key to another partition.
package kafka

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/segmentio/kafka-go"

	"vayu/dispatch/outbox"
	"vayu/internal/topic"
)

// limits bound a batch of events. Linger is how long the client waits for more messages of a batch. It is short
// compared with the delay of a delivery.
var limits = topic.Limits{Messages: 500, Bytes: 8 << 20, Linger: time.Millisecond, Ahead: 1}

// Log publishes and consumes events. It is safe for concurrent use.
type Log struct {
	*topic.Client

	published, publishFailures prometheus.Counter
}

// New returns a Log without connecting. It sets the names, the limits, and the reasons of dead letters in c. It fails
// if settings, files or broker addresses are invalid. It panics if a metric is already registered.
func New(c topic.Config) (*Log, error) {
	c.Name, c.Content, c.Worker = "the event log", "events", "the dispatcher"
	c.Prefix, c.Section, c.Reasons, c.Limits = "vayu_eventlog", "event-log", []string{reasonHeaders, reasonRefused}, limits
	client, err := topic.New(c)
	if err != nil {
		return nil, err
	}
	auto := promauto.With(c.Metrics)
	counter := func(name, help string) prometheus.Counter {
		return auto.NewCounter(prometheus.CounterOpts{Name: "vayu_eventlog_" + name, Help: help})
	}
	return &Log{
		Client:          client,
		published:       counter("published_total", "Events acknowledged by all in-sync replicas."),
		publishFailures: counter("publish_failures_total", "Batches with events that could not be published; they are retried."),
	}, nil
}

// Publish writes events to the topic, with the account as key. It returns the events that all in-sync replicas have
// stored. It times out after ten seconds. The topic may then contain events that Publish did not return, and a retry
// duplicates these. If an event of an account fails, Publish returns no later event of that account. Publish implements
// outbox.Publisher.
func (l *Log) Publish(ctx context.Context, batch []outbox.Event) (safe []outbox.Event, err error) {
	if len(batch) == 0 {
		return nil, nil
	}
	records := make([]kafka.Message, len(batch))
	for i, e := range batch {
		records[i] = encode(e)
	}
	acked, err := l.Write(ctx, records)
	for i, e := range batch {
		if acked[i] {
			safe = append(safe, e)
		}
	}
	l.published.Add(float64(len(safe)))
	if err != nil {
		l.publishFailures.Inc()
		if errors.Is(err, topic.ErrPartial) {
			err = fmt.Errorf("%w: %w", outbox.ErrPartial, err)
		}
		return safe, fmt.Errorf("publishing %d of %d events: %w", len(batch)-len(safe), len(batch), err)
	}
	return safe, nil
}

// Process handles a batch of events, given by their ids. It returns each event that it rejects permanently, with the
// reason. After an error, the whole batch is retried. The function must return soon after ctx ends, and must be
// idempotent.
type Process = func(ctx context.Context, ids []string) (rejected map[string]error, err error)

// These are the values of the metric label "reason" of dead letters.
const (
	reasonHeaders = "headers" // the message has no event id
	reasonRefused = "refused" // the function Process rejected the event
)

// Consume consumes events as a member of the consumer group until ctx ends. It calls `process` with one batch of at
// most 500 events at a time, and then commits the offsets of the batch. See [topic.Client.Consume].
func (l *Log) Consume(ctx context.Context, process Process) error {
	return l.Client.Consume(ctx, func(ctx context.Context, batch []kafka.Message) (dead []topic.Dead, err error) {
		var ids []string
		var of []kafka.Message
		for _, m := range batch {
			if id, err := eventID(m); err == nil {
				ids, of = append(ids, id), append(of, m)
			} else {
				dead = append(dead, topic.Dead{Message: m, Reason: reasonHeaders, Err: err})
			}
		}
		if len(ids) == 0 {
			return dead, nil
		}
		rejected, err := process(ctx, ids)
		for i, id := range ids {
			if err, is := rejected[id]; is {
				dead = append(dead, topic.Dead{Message: of[i], Reason: reasonRefused, Err: err})
			}
		}
		return dead, err
	})
}
