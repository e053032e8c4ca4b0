package batch

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics is what the service counts, by kind.
type metrics struct {
	accepted, records, emptied, failures *prometheus.CounterVec
	underWay, waiting                    *prometheus.GaugeVec
}

// kindMetrics is what is counted of one kind.
type kindMetrics struct {
	accepted            prometheus.Counter
	done, passed, again prometheus.Counter
	emptied, failures   prometheus.Counter
	underWay, waiting   prometheus.Gauge
}

func newMetrics(reg prometheus.Registerer) (*metrics, error) {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, append([]string{"kind"}, labels...))
	}
	gauge := func(name, help string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, []string{"kind"})
	}
	m := &metrics{
		accepted: counter("vayu_batch_accepted_total", "Batches that were taken on."),
		records: counter("vayu_batch_records_total",
			"Records that were worked on, by outcome: done (begun or refused), passed (that was so already), again (something was away, it comes again).", "outcome"),
		emptied:  counter("vayu_batch_emptied_total", "Batches whose results were deleted, because they had expired."),
		failures: counter("vayu_batch_failures_total", "Times that the state store failed while batches were worked on, that a lease was lost, or that records were not as they should be."),
		underWay: gauge("vayu_batch_under_way", "Records that are under way."),
		waiting:  gauge("vayu_batch_waiting_chunks", "Pieces of batches that are not done yet, those that are worked on included, as of the last half minute."),
	}
	if reg == nil {
		return m, nil
	}
	for _, c := range []prometheus.Collector{m.accepted, m.records, m.emptied, m.failures, m.underWay, m.waiting} {
		if err := reg.Register(c); err != nil {
			return nil, fmt.Errorf("registering the metrics of batches: %w", err)
		}
	}
	return m, nil
}

func (m *metrics) of(kind string) kindMetrics {
	return kindMetrics{
		accepted: m.accepted.WithLabelValues(kind),
		done:     m.records.WithLabelValues(kind, "done"), passed: m.records.WithLabelValues(kind, "passed"), again: m.records.WithLabelValues(kind, "again"),
		emptied: m.emptied.WithLabelValues(kind), failures: m.failures.WithLabelValues(kind),
		underWay: m.underWay.WithLabelValues(kind), waiting: m.waiting.WithLabelValues(kind),
	}
}
