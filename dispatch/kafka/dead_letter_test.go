package kafka

import (
	"bytes"
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"vayu/internal/topic"
)

// readDeadTopic reads messages from the dead topic.
func readDeadTopic(tb testing.TB, l *Log, count int) (found []kafka.Message) {
	tb.Helper()
	messages := make(chan kafka.Message)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for p := range l.Partitions {
		r := kafka.NewReader(kafka.ReaderConfig{Brokers: l.Brokers, Topic: l.DeadTopic, Partition: p, MaxWait: 100 * time.Millisecond})
		tb.Cleanup(func() { _ = r.Close() })
		go func() {
			for {
				m, err := r.ReadMessage(ctx)
				if err != nil {
					return
				}
				select {
				case messages <- m:
				case <-ctx.Done():
					return
				}
			}
		}()
	}
	for range count {
		found = append(found, receive(tb, messages))
	}
	return found
}

func headersOf(m kafka.Message) map[string]string {
	headers := map[string]string{}
	for _, h := range m.Headers {
		headers[h.Key] = string(h.Value)
	}
	return headers
}

func TestInvalidMessagesGoToDeadTopic(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, brokers []string) {
		l := newLog(t, brokers, nil)
		good := encode(testEvent(t, 1, "acc_1"))
		nameless, keyless := good, good
		nameless.Headers = good.Headers[1:]
		keyless.Key = nil // the id is sufficient
		batch := []kafka.Message{nameless, good, keyless, good, {}}
		write(t, l, batch...)
		got := newCollector()
		consume(t, l, got.process)
		eventually(t, "all are consumed", func() bool { return counted(t, l, "consumed_total") == float64(len(batch)) })
		if got.different() != 1 || len(got.ids) != 3 {
			t.Errorf("took %d events, want the good one three times", len(got.ids))
		}
		if got := counted(t, l, "dead_letters_total", reasonHeaders); got != 2 {
			t.Errorf("got %v dead letters, want 2", got)
		}
		for _, m := range readDeadTopic(t, l, 2) {
			headers := headersOf(m)
			switch {
			case headers[topic.HeaderReason] != reasonHeaders:
				t.Errorf("got the reason %q, want %q", headers[topic.HeaderReason], reasonHeaders)
			case headers[topic.HeaderTopic] != l.Topic:
				t.Errorf("got the topic %q, want %q", headers[topic.HeaderTopic], l.Topic)
			case headers[topic.HeaderPartition] == "":
				t.Error("the header with the partition is empty")
			case headers[topic.HeaderOffset] == "":
				t.Error("the header with the offset is empty")
			case headers[topic.HeaderFault] == "":
				t.Error("the header with the error is empty")
			case len(m.Value) > 0 && !bytes.Equal(m.Value, good.Value):
				t.Errorf("got the dead message %s, want %s", m.Value, good.Value)
			case len(m.Value) > 0 && headers[headerType] == "":
				t.Errorf("got the headers %v of a dead message, want its type", headers)
			}
		}
	})
}

func TestRejectedEventsGoToDeadTopic(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, brokers []string) {
		l := newLog(t, brokers, nil)
		events := testEvents(t, 0, 10)
		publish(t, l, events...)
		got := newCollector()
		consume(t, l, func(ctx context.Context, batch []string) (map[string]error, error) {
			if _, err := got.process(ctx, batch); err != nil {
				return nil, err
			}
			return map[string]error{events[3].ID: errors.New("the account is not known"), "evt_other": errors.New("not in the batch")}, nil
		})
		eventually(t, "all are consumed", func() bool { return counted(t, l, "consumed_total") == 10 })
		dead := readDeadTopic(t, l, 1)[0]
		headers := headersOf(dead)
		if headers[headerID] != events[3].ID || headers[topic.HeaderReason] != reasonRefused || headers[topic.HeaderFault] != "the account is not known" {
			t.Errorf("the dead message has the headers %v", headers)
		}
		if diff := cmp.Diff(events[3].Envelope, dead.Value); diff != "" {
			t.Errorf("value of the dead message (-want +got):\n%s", diff)
		}
	})
}

func TestCommitWaitsForDeadLetters(t *testing.T) {
	t.Parallel()
	cluster := fakeBroker(t)
	committed := commits(cluster, nil)
	l := newLog(t, cluster.ListenAddrs(), nil)
	bad := encode(testEvent(t, 1, "acc_1"))
	bad.Headers = nil
	write(t, l, bad, encode(testEvent(t, 2, "acc_1")))
	var refused atomic.Int64
	cluster.ControlKey(int16(kmsg.Produce), func(request kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		if refused.Add(1) > 3 {
			return nil, nil, false
		}
		if n := committed.Load(); n != 0 {
			t.Errorf("%d commits before the dead letter", n)
		}
		return answerProduce(request, kerr.RequestTimedOut.Code), nil, true
	})
	got := newCollector()
	consume(t, l, got.process)
	eventually(t, "both are consumed", func() bool { return counted(t, l, "consumed_total") == 2 })
	if len(got.ids) != 1 {
		t.Errorf("handed over %d events, want the good one once", len(got.ids))
	}
	if got := counted(t, l, "dead_letter_failures_total"); got != 3 {
		t.Errorf("counted %v failed dead letters, want 3", got)
	}
	readDeadTopic(t, l, 1)
}
