package topic

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/segmentio/kafka-go"

	"vayu/internal/failurelog"
)

const (
	// session is how long a killed group member keeps its partitions. 6 s is the default
	// minimum of brokers (group.min.session.timeout.ms).
	session = 6 * time.Second
	// heartbeat is the interval of heartbeats, whose replies announce a rebalance.
	heartbeat = time.Second
	rebalance = 10 * time.Second
	// grace is how long processing may continue after a generation of the group has ended, for example by a rebalance.
	// A batch that is committed within this time is not consumed again.
	grace = 3 * time.Second
	// leaving bounds the time that Consume takes to leave the group before it returns.
	leaving = 3 * time.Second
	// maxRetry is the longest delay of a retry.
	maxRetry = 5 * time.Second
)

// Process is the type of the function that handles a batch of messages. It returns the messages that can never be
// processed, as dead letters. If it returns an error, Consume retries the whole batch. The function must return soon
// after ctx ends, and must be idempotent.
type Process = func(ctx context.Context, batch []kafka.Message) (dead []Dead, err error)

// reader has the state of one call of Consume.
type reader struct {
	*Client

	ctx     context.Context // context of the call
	process Process
	fetcher *kafka.Client // for everything but the group
	// Each of these logs is for one operation. It reports when the operation begins to fail, and when it has recovered.
	broker, processing, writingDead *failurelog.Log
}

// Consume consumes messages as a member of the consumer group until ctx ends. It calls `process` with one batch at a
// time, of at most Limits.Messages. If `process` returns an error, Consume retries the batch. Otherwise it writes the
// dead letters to the dead topic, and then commits the offsets of the batch. So delivery is at least once.
//
// A new group starts at the oldest message. Consume waits while brokers are unreachable. After ctx ends, it returns nil
// within seconds. It leaves the group if the broker replies.
func (c *Client) Consume(ctx context.Context, process Process) error {
	r := &reader{
		Client: c, ctx: ctx, process: process,
		broker:      failurelog.New(c.Config.Log, c.Name+": Kafka", "joining the group", c.Content+" wait in the topic", c.metrics.connectFailures),
		processing:  failurelog.New(c.Config.Log, c.Name+": "+c.Worker, "processing a batch", "it is retried", c.metrics.redelivered),
		writingDead: failurelog.New(c.Config.Log, c.Name+": the dead topic", "writing dead letters", "later messages wait", c.metrics.deadLetterFailures),
	}
	transport := c.newTransport()
	defer transport.CloseIdleConnections()
	r.fetcher = c.newClient(transport)
	c.lag.reading.Store(true)
	open, shut := context.WithCancel(context.WithoutCancel(ctx))
	defer shut()
	if !r.awaitTopics() {
		return nil // ctx has ended
	}
	group, err := kafka.NewConsumerGroup(r.groupConfig(open))
	if err != nil {
		return fmt.Errorf("joining the group %s: %w", c.Group, err)
	}
	defer func() {
		// group.Close leaves the group. It must not wait long for a broker that does not reply.
		impatient := time.AfterFunc(leaving, shut)
		defer impatient.Stop()
		_ = group.Close() // never fails
	}()
	for pause := newBackoff(r.Pace.Retry); ; {
		generation, err := group.Next(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, kafka.RebalanceInProgress): // a normal event
		case err != nil:
			r.broker.Observe(ctx, explain(err))
			// A configuration error, such as a rejected login, gets a growing delay in addition to JoinGroupBackoff.
			if status, _ := diagnose(err); status != "" && !pause.wait(ctx) {
				return nil
			}
		default:
			r.broker.Observe(ctx, nil)
			pause = newBackoff(r.Pace.Retry)
			r.serve(generation)
		}
	}
}

// awaitTopics creates missing topics. It returns false if ctx ends first.
func (r *reader) awaitTopics() bool {
	for pause := newBackoff(r.Pace.Retry); ; {
		ctx, cancel := context.WithTimeout(r.ctx, r.Pace.Write)
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

func (r *reader) groupConfig(open context.Context) kafka.ConsumerGroupConfig {
	var redial context.Context
	if len(r.Brokers) == 1 {
		redial = r.ctx
	}
	return kafka.ConsumerGroupConfig{
		ID: r.Group, Brokers: r.Brokers, Topics: []string{r.Topic},
		Dialer:            r.security.GroupDialer(open, redial),
		HeartbeatInterval: heartbeat,
		SessionTimeout:    session,
		RebalanceTimeout:  rebalance,
		JoinGroupBackoff:  r.Pace.Retry,
		StartOffset:       kafka.FirstOffset,
		Logger:            r.clientLogger(),
		ErrorLogger:       r.clientLogger(),
	}
}

// clientLogger logs messages of the Kafka client at debug level, because the client returns important ones as errors.
func (r *reader) clientLogger() kafka.Logger {
	return kafka.LoggerFunc(func(format string, args ...any) {
		r.Config.Log.DebugContext(r.ctx, "kafka", "text", fmt.Sprintf(format, args...))
	})
}
