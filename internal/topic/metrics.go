package topic

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

type metrics struct {
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
	resetTruncated = "truncated" // the topic was truncated; the rest is consumed again
)

func newMetrics(c *Client, reg prometheus.Registerer) *metrics {
	auto := promauto.With(reg)
	opts := func(name, help string) prometheus.CounterOpts {
		return prometheus.CounterOpts{Name: c.Prefix + name, Help: help}
	}
	counter := func(name, help string) prometheus.Counter { return auto.NewCounter(opts(name, help)) }
	byReason := func(name, help string, reasons ...string) *prometheus.CounterVec {
		v := auto.NewCounterVec(opts(name, help), []string{"reason"})
		for _, reason := range reasons {
			v.WithLabelValues(reason)
		}
		return v
	}
	if reg != nil {
		reg.MustRegister(&c.lag)
	}
	return &metrics{
		consumed:           counter("_consumed_total", "Messages consumed: processed, or written to the dead topic."),
		redelivered:        counter("_redelivered_batches_total", "Batches retried because processing failed."),
		deadLetterFailures: counter("_dead_letter_failures_total", "Failed writes to the dead topic; each is retried."),
		connectFailures:    counter("_connection_failures_total", "Lost connections of the reader to its group or a partition."),
		commitFailures:     counter("_commit_failures_total", "Processed batches whose offsets could not be committed; they are consumed again."),
		deadLetters:        byReason("_dead_letters_total", "Messages written to the dead topic, by reason.", c.Reasons...),
		resets:             byReason("_resets_total", "Offset resets to the start of a partition, by reason.", resetExpired, resetTruncated),
	}
}
