package kafka

import (
	"vayu/internal/metric"

	"github.com/prometheus/client_golang/prometheus"
)

type metrics struct {
	published          prometheus.Counter
	publishFailures    prometheus.Counter
	consumed           prometheus.Counter
	redelivered        prometheus.Counter
	deadLetters        *prometheus.CounterVec
	deadLetterFailures prometheus.Counter
	connectFailures    prometheus.Counter
	commitFailures     prometheus.Counter
	resets             *prometheus.CounterVec
}

// Reasons of an offset reset, as values of the label.
const (
	resetExpired   = "expired"   // messages were deleted before they were consumed
	resetTruncated = "truncated" // the log was truncated; the rest is consumed again
)

func newMetrics(l *Log, reg prometheus.Registerer) (*metrics, error) {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: "vayu_eventlog_" + name, Help: help})
	}
	m := &metrics{
		published:          counter("published_total", "Events acknowledged by all in-sync replicas."),
		publishFailures:    counter("publish_failures_total", "Batches with events that could not be published; they are retried."),
		consumed:           counter("consumed_total", "Messages consumed: processed, or written to the dead topic."),
		redelivered:        counter("redelivered_batches_total", "Batches retried because processing failed."),
		deadLetterFailures: counter("bury_failures_total", "Failed writes to the dead topic; each is retried."),
		connectFailures:    counter("connection_failures_total", "Lost connections of the reader to its group or a partition."),
		commitFailures:     counter("commit_failures_total", "Processed batches whose offsets could not be committed; they are consumed again."),
		deadLetters: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "vayu_eventlog_buried_total", Help: "Messages written to the dead topic, by reason.",
		}, []string{"reason"}),
		resets: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "vayu_eventlog_resets_total", Help: "Offset resets to the start of a partition, by reason.",
		}, []string{"reason"}),
	}
	for _, reason := range reasons {
		m.deadLetters.WithLabelValues(reason)
	}
	for _, reason := range []string{resetExpired, resetTruncated} {
		m.resets.WithLabelValues(reason)
	}
	return m, metric.Register(reg, "the event log",
		m.published, m.publishFailures, m.consumed, m.redelivered, m.deadLetters, m.deadLetterFailures, m.connectFailures,
		m.commitFailures, m.resets, &l.lag,
	)
}
