package kafka

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/segmentio/kafka-go"

	"vayu/dispatch/kafka/broker"
	"vayu/dispatch/outbox"
	"vayu/internal/failurelog"
)

const (
	// session is how long a killed group member keeps its partitions. 6 s is the default
	// minimum of brokers (group.min.session.timeout.ms).
	session = 6 * time.Second
	// heartbeat is the interval of heartbeats, whose replies announce a rebalance.
	heartbeat = time.Second
	rebalance = 10 * time.Second
	// grace is how long processing may continue after a generation has ended. A batch that is
	// committed within this time is not repeated.
	grace = 3 * time.Second
	// leaving bounds the time that Consume takes to leave the group at its end.
	leaving = 3 * time.Second
	// maxRetry is the longest backoff.
	maxRetry = 5 * time.Second
)

// Process is the type of the function that handles a batch of events. It returns the reason of
// each permanently rejected event by the event's id. An error causes a retry of the whole batch.
// The function must return soon after ctx ends, and must be idempotent.
type Process = func(ctx context.Context, batch []outbox.Event) (rejected map[string]error, err error)

// reader has the state of one call of Consume.
type reader struct {
	*Log

	ctx     context.Context // context of the call
	process Process
	conns   *broker.Tracker
	// Each of these logs reports when an operation begins to fail, and when it has recovered.
	broker, processing, writingDead *failurelog.Log
}

// Consume consumes events as a member of the consumer group until ctx ends. It calls process
// with one batch at a time, of at most 500 events. If process returns no error, Consume commits
// the offsets of the batch. After an error it retries the batch, so delivery is at least once.
// Before the commit it writes rejected events, and messages that are not events, to the dead topic.
//
// A new group starts at the oldest message. Consume waits while brokers are unreachable.
// After ctx ends, it returns nil within seconds. It leaves the group if the broker replies.
func (l *Log) Consume(ctx context.Context, process func(ctx context.Context, batch []outbox.Event) (rejected map[string]error, err error)) error {
	r := &reader{
		Log: l, ctx: ctx, process: process, conns: broker.NewTracker(ctx, len(l.Brokers) == 1, l.security),
		broker:      failurelog.New(l.Log, "events: Kafka", "joining the group", "events wait in the log", l.metrics.connectFailures),
		processing:  failurelog.New(l.Log, "events: the dispatcher", "processing a batch", "it is retried", l.metrics.redelivered),
		writingDead: failurelog.New(l.Log, "events: the dead topic", "writing dead letters", "later messages wait", l.metrics.deadLetterFailures),
	}
	defer r.conns.Shut()
	if !r.awaitTopics() {
		return nil // ctx has ended
	}
	group, err := kafka.NewConsumerGroup(r.groupConfig())
	if err != nil {
		return fmt.Errorf("joining the group %s: %w", l.Group, err)
	}
	defer func() {
		// Close leaves the group. It must not wait long for a broker that does not reply.
		impatient := time.AfterFunc(leaving, r.conns.Shut)
		defer impatient.Stop()
		_ = group.Close() // never fails
	}()
	for pause := newBackoff(r.pace.retry); ; {
		generation, err := group.Next(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, kafka.RebalanceInProgress): // a normal event
		case err != nil:
			r.broker.Observe(ctx, explain(err))
			// After a configuration error, such as a rejected login, the delay before a retry grows.
			if status, _ := diagnose(err); status != "" && !pause.wait(ctx) {
				return nil
			}
		default:
			r.broker.Observe(ctx, nil)
			pause = newBackoff(r.pace.retry)
			r.serve(generation)
		}
	}
}

// awaitTopics creates missing topics. It returns false if ctx ends first.
func (r *reader) awaitTopics() bool {
	for pause := newBackoff(r.pace.retry); ; {
		ctx, cancel := context.WithTimeout(r.ctx, r.pace.publish)
		err := r.makeTopics(ctx)
		cancel()
		if err == nil {
			return true
		}
		r.broker.Observe(r.ctx, explain(err))
		if !pause.wait(r.ctx) {
			return false
		}
	}
}

func (r *reader) groupConfig() kafka.ConsumerGroupConfig {
	return kafka.ConsumerGroupConfig{
		ID: r.Group, Brokers: r.Brokers, Topics: []string{r.Topic},
		Dialer:            r.conns.Dialer(),
		HeartbeatInterval: heartbeat,
		SessionTimeout:    session,
		RebalanceTimeout:  rebalance,
		JoinGroupBackoff:  r.pace.retry,
		StartOffset:       kafka.FirstOffset,
		Logger:            r.clientLogger(),
		ErrorLogger:       r.clientLogger(),
	}
}

// clientLogger logs messages of the Kafka client at debug level. The client returns
// important messages as errors, too.
func (r *reader) clientLogger() kafka.Logger {
	return kafka.LoggerFunc(func(format string, args ...any) {
		r.Config.Log.DebugContext(r.ctx, "kafka", "text", fmt.Sprintf(format, args...))
	})
}
