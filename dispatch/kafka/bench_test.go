package kafka

import (
	"context"
	"testing"
	"time"

	"vayu/internal/topic"
)

// BenchmarkPublish publishes batches of 500 to a real broker.
func BenchmarkPublish(b *testing.B) {
	l := newLog(b, []string{realBroker(b)}, func(c *topic.Config) { c.Partitions = 12 })
	batch := testEvents(b, 0, 500)
	publish(b, l, batch...)
	for b.Loop() {
		publish(b, l, batch...)
	}
	b.ReportMetric(float64(500*b.N)/b.Elapsed().Seconds(), "events/s")
}

// BenchmarkThrough publishes batches of 500 to a real broker while another goroutine
// reads and commits them. It ends when the last event has been processed.
func BenchmarkThrough(b *testing.B) {
	l := newLog(b, []string{realBroker(b)}, func(c *topic.Config) { c.Partitions, c.Pace = 12, topic.Pace{} })
	got := newCollector()
	consume(b, l, got.process)
	publish(b, l, testEvents(b, 0, 500)...)
	got.await(b, 500)
	sent := 500
	for b.Loop() {
		publish(b, l, testEvents(b, sent, 500)...)
		sent += 500
	}
	got.await(b, sent)
	b.ReportMetric(float64(sent-500)/b.Elapsed().Seconds(), "events/s")
}

// BenchmarkLatency measures the time from Publish to the processing of an event
// through a real broker, one event after another. It includes the previous commit,
// which a broker delays by 5 ms to write several together
// (group.coordinator.append.linger.ms).
func BenchmarkLatency(b *testing.B) {
	l := newLog(b, []string{realBroker(b)}, func(c *topic.Config) { c.Partitions, c.Pace = 12, topic.Pace{} })
	taken := make(chan time.Time, 1)
	consume(b, l, func(context.Context, []string) (map[string]error, error) {
		taken <- time.Now()
		return nil, nil
	})
	publish(b, l, testEvents(b, 0, 1)...)
	receive(b, taken)
	n := 1
	var publishing time.Duration
	for b.Loop() {
		begun := time.Now()
		publish(b, l, testEvents(b, n, 1)...)
		publishing += time.Since(begun)
		receive(b, taken)
		n++
	}
	b.ReportMetric(publishing.Seconds()*1e9/float64(b.N), "ns/publish")
}
