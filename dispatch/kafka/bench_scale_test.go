package kafka

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"vayu/dispatch/outbox"
	"vayu/internal/topic"
)

// BenchmarkScalePartitions writes events in batches of 500 to a real broker with many
// partitions, and then reads them as one member of a group. Its floor is the bare
// client, which writes the same messages in batches of the same size and reads them
// without a group.
func BenchmarkScalePartitions(b *testing.B) {
	for _, partitions := range [...]int{1, 2, 4, 8} {
		b.Run(fmt.Sprintf("partitions=%d", partitions), func(b *testing.B) { benchPartitions(b, partitions) })
	}
}

func benchPartitions(b *testing.B, partitions int) {
	b.Helper()
	const batches, each = 100, 500
	broker := realBroker(b)
	l := newLog(b, []string{broker}, func(c *topic.Config) { c.Partitions = partitions })
	beside := newLog(b, []string{broker}, func(c *topic.Config) {
		c.Topic, c.DeadTopic, c.Partitions = c.Topic+".bare", c.DeadTopic+".bare", partitions
	})
	events := make([][]outbox.Event, batches)
	for i := range events {
		events[i] = testEvents(b, i*each, each)
	}
	publish(b, l, testEvents(b, batches*each, 1)...) // makes the topic
	publish(b, beside, testEvents(b, batches*each, 1)...)

	began := time.Now()
	for _, batch := range events {
		publish(b, l, batch...)
	}
	written := time.Since(began)
	bareWritten := writeBare(b, beside, events)

	var first, last time.Time
	got, early := newCollector(), 0
	consume(b, l, func(ctx context.Context, batch []string) (map[string]error, error) {
		last = time.Now() // one batch at a time
		if first.IsZero() {
			first, early = last, len(batch)
		}
		return got.process(ctx, batch)
	})
	got.await(b, batches*each+1)
	read := last.Sub(first)
	bareRead := readBare(b, beside, partitions, batches*each+1)

	rate := func(n int, d time.Duration) float64 { return float64(n) / d.Seconds() }
	b.ReportMetric(rate(batches*each, written), "written/s")
	b.ReportMetric(bareWritten.Seconds()/written.Seconds(), "x-of-bare-writes")
	b.ReportMetric(rate(batches*each+1-early, read), "read/s")
	b.ReportMetric(rate(batches*each+1-early, read)*bareRead.Seconds()/float64(batches*each+1), "x-of-bare-reads")
}

// writeBare writes batches with the library's own writer.
func writeBare(b *testing.B, l *Log, events [][]outbox.Event) time.Duration {
	b.Helper()
	w := &kafka.Writer{
		Addr: kafka.TCP(l.Brokers...), Topic: l.Topic, Balancer: &kafka.Murmur2Balancer{}, RequiredAcks: kafka.RequireAll,
		BatchSize: len(events[0]), BatchTimeout: time.Millisecond, Transport: transportOf(b, l),
	}
	defer func() { _ = w.Close() }()
	began := time.Now()
	for _, batch := range events {
		messages := make([]kafka.Message, len(batch))
		for i := range batch {
			messages[i] = kafka.Message{Key: []byte(batch[i].Account), Value: batch[i].Envelope}
		}
		if err := w.WriteMessages(context.Background(), messages...); err != nil {
			b.Fatal(err)
		}
	}
	return time.Since(began)
}

// readBare reads n messages from all partitions with the library's own readers.
func readBare(b *testing.B, l *Log, partitions, n int) time.Duration {
	b.Helper()
	ctx, done := context.WithTimeout(context.Background(), patience)
	defer done()
	came := make(chan struct{}, n)
	var reading sync.WaitGroup
	began := time.Now()
	for id := range partitions {
		r := kafka.NewReader(kafka.ReaderConfig{Brokers: l.Brokers, Topic: l.Topic, Partition: id, MinBytes: 1, MaxBytes: limits.Bytes, MaxWait: 100 * time.Millisecond})
		reading.Go(func() {
			defer func() { _ = r.Close() }()
			for {
				if _, err := r.ReadMessage(ctx); err != nil {
					return
				}
				came <- struct{}{}
			}
		})
	}
	for range n {
		select {
		case <-came:
		case <-ctx.Done():
			b.Fatal("not all messages came")
		}
	}
	took := time.Since(began)
	done()
	reading.Wait()
	return took
}
