package kafka

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics is what a Log counts.
type metrics struct {
	published       prometheus.Counter
	publishFailures prometheus.Counter
	consumed        prometheus.Counter
	redelivered     prometheus.Counter
	buried          *prometheus.CounterVec
	buryFailures    prometheus.Counter
	connectFailures prometheus.Counter
	commitFailures  prometheus.Counter
	resets          *prometheus.CounterVec
}

// The reasons of a jump of the reader's place, and their label.
const (
	resetExpired   = "expired"   // messages were deleted before they were read
	resetTruncated = "truncated" // the log lost its end; all that is left is read again
)

func newMetrics(l *Log, reg prometheus.Registerer) (*metrics, error) {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: "vayu_eventlog_" + name, Help: help})
	}
	m := &metrics{
		published:       counter("published_total", "Events that are on every replica that has to have them."),
		publishFailures: counter("publish_failures_total", "Batches of which some event could not be published; it is brought again."),
		consumed:        counter("consumed_total", "Messages that were read and finished: taken, or buried."),
		redelivered:     counter("redelivered_batches_total", "Batches that were handed over again because they were refused."),
		buryFailures:    counter("bury_failures_total", "Attempts to write to the dead topic that failed and were made again."),
		connectFailures: counter("connection_failures_total", "Times that the reader lost its group or a partition, and connected again."),
		commitFailures:  counter("commit_failures_total", "Batches that were taken and whose place could not be committed; they come again."),
		buried: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "vayu_eventlog_buried_total", Help: "Messages that went to the dead topic, by reason.",
		}, []string{"reason"}),
		resets: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "vayu_eventlog_resets_total", Help: "Jumps of the reader to the start of a partition, by reason.",
		}, []string{"reason"}),
	}
	for _, reason := range reasons {
		m.buried.WithLabelValues(reason)
	}
	for _, reason := range []string{resetExpired, resetTruncated} {
		m.resets.WithLabelValues(reason)
	}
	if reg == nil {
		return m, nil
	}
	for _, c := range []prometheus.Collector{
		m.published, m.publishFailures, m.consumed, m.redelivered, m.buried, m.buryFailures, m.connectFailures,
		m.commitFailures, m.resets, &l.lag,
	} {
		if err := reg.Register(c); err != nil {
			return nil, fmt.Errorf("registering metrics of the event log: %w", err)
		}
	}
	return m, nil
}
