package kafka

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/segmentio/kafka-go"

	"vayu/dispatch/outbox"
	"vayu/internal/failurelog"
)

// clientID is how brokers name this program in their logs and metrics.
const clientID = "vayu"

// How a member of the group behaves. A member that was killed holds its
// partitions for a session; six seconds is the least that brokers allow by
// default (group.min.session.timeout.ms). A member that lives learns of a
// rebalance by its next heartbeat.
const (
	session   = 6 * time.Second
	heartbeat = time.Second
	rebalance = 10 * time.Second
	// grace is how long a take may go on when a rebalance has begun: what is
	// committed in time does not come twice.
	grace = 3 * time.Second
	// leaving is how long the end of Consume may wait for the group.
	leaving = 3 * time.Second
	// retryMost is the longest pause between two attempts at the same thing.
	retryMost = 5 * time.Second
)

// Take takes a batch of events: buried are those that it will never take, by
// their id, and an error asks for the whole batch again. It must end soon after
// ctx does, and a batch that it took may come again.
type Take = func(ctx context.Context, batch []outbox.Event) (buried map[string]error, err error)

// reader is one call of Consume.
type reader struct {
	*Log

	ctx  context.Context // of Consume
	take Take
	door *door
	// What is said once when it begins and once when it is over.
	broker, taking, burying *failurelog.Outage
}

// Consume reads as a member of the group until ctx ends: it hands over batches,
// one at a time and of at most 500, and moves the group's place behind a batch
// when take has returned nil. What take refuses with an error is handed over
// again, and so is what another member had not finished: a message may come twice,
// and never not at all. Messages that are no events, and those that bury returns,
// go to the dead topic with their reason before the place is moved.
//
// A new group begins with the oldest message there is. Where brokers are away, it
// waits for them. It returns nil, within seconds after ctx has ended, and has then
// left the group.
func (l *Log) Consume(ctx context.Context, take func(ctx context.Context, batch []outbox.Event) (buried map[string]error, err error)) error {
	r := &reader{
		Log: l, ctx: ctx, take: take, door: newDoor(ctx, len(l.Brokers) == 1, l.secure),
		broker:  failurelog.New(l.Log, "events: Kafka", "joining the group", "events wait in the log", l.metrics.connectFailures),
		taking:  failurelog.New(l.Log, "events: who takes them", "handing over a batch", "it is handed over again", l.metrics.redelivered),
		burying: failurelog.New(l.Log, "events: the dead topic", "burying what is no event", "what follows it waits", l.metrics.buryFailures),
	}
	defer r.door.shut()
	if !r.awaitTopics() {
		return nil // ctx has ended
	}
	group, err := kafka.NewConsumerGroup(r.groupConfig())
	if err != nil {
		return fmt.Errorf("joining the group %s: %w", l.Group, err)
	}
	defer func() {
		// The group leaves politely. A broker that does not answer is left standing.
		impatient := time.AfterFunc(leaving, r.door.shut)
		defer impatient.Stop()
		_ = group.Close() // never fails
	}()
	for pause := newBackoff(r.pace.retry); ; {
		generation, err := group.Next(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, kafka.RebalanceInProgress): // everyday life of a group
		case err != nil:
			r.broker.Tell(ctx, explain(err))
			// Who is not let in is not let in a moment later, and each try costs a login.
			if word, _ := diagnose(err); word != "" && !pause.wait(ctx) {
				return nil
			}
		default:
			r.broker.Tell(ctx, nil)
			pause = newBackoff(r.pace.retry)
			r.serve(generation)
		}
	}
}

// awaitTopics makes the topics when they are not there. It is false when ctx has
// ended.
func (r *reader) awaitTopics() bool {
	for pause := newBackoff(r.pace.retry); ; {
		ctx, cancel := context.WithTimeout(r.ctx, r.pace.publish)
		err := r.makeTopics(ctx)
		cancel()
		if err == nil {
			return true
		}
		r.broker.Tell(r.ctx, explain(err))
		if !pause.wait(r.ctx) {
			return false
		}
	}
}

func (r *reader) groupConfig() kafka.ConsumerGroupConfig {
	return kafka.ConsumerGroupConfig{
		ID: r.Group, Brokers: r.Brokers, Topics: []string{r.Topic},
		Dialer:            r.door.dialer(),
		HeartbeatInterval: heartbeat,
		SessionTimeout:    session,
		RebalanceTimeout:  rebalance,
		JoinGroupBackoff:  r.pace.retry,
		StartOffset:       kafka.FirstOffset,
		Logger:            r.chatter(),
		ErrorLogger:       r.chatter(),
	}
}

// chatter is what the client says about itself. What matters of it is returned as
// an error, too.
func (r *reader) chatter() kafka.Logger {
	return kafka.LoggerFunc(func(format string, args ...any) {
		r.Config.Log.DebugContext(r.ctx, "kafka", "text", fmt.Sprintf(format, args...))
	})
}
