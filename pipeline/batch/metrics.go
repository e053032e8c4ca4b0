package batch

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// metrics are the metrics of the service, with the label kind.
type metrics struct {
	accepted, records, purged, failures *prometheus.CounterVec
	inFlight, waiting                   *prometheus.GaugeVec
}

// kindMetrics are the metrics of one kind of batches, such as recharges.
type kindMetrics struct {
	accepted               prometheus.Counter
	done, skipped, retried prometheus.Counter
	purged, failures       prometheus.Counter
	inFlight, waiting      prometheus.Gauge
}

func newMetrics(reg prometheus.Registerer) *metrics {
	auto := promauto.With(reg)
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return auto.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, append([]string{"kind"}, labels...))
	}
	gauge := func(name, help string) *prometheus.GaugeVec {
		return auto.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, []string{"kind"})
	}
	return &metrics{
		accepted: counter("vayu_batch_accepted_total", "Accepted batches."),
		records: counter("vayu_batch_records_total",
			"Processed records by outcome: done (begun or rejected), passed (done before), again (failed, is retried).", "outcome"),
		purged:   counter("vayu_batch_emptied_total", "Batches whose expired results were deleted."),
		failures: counter("vayu_batch_failures_total", "Failures of the state store, lost leases and inconsistent records while batches were processed."),
		inFlight: gauge("vayu_batch_under_way", "Records in flight."),
		waiting:  gauge("vayu_batch_waiting_chunks", "Unfinished chunks of batches, leased ones included, as of the last half minute."),
	}
}

func (m *metrics) of(kind string) kindMetrics {
	return kindMetrics{
		accepted: m.accepted.WithLabelValues(kind),
		done:     m.records.WithLabelValues(kind, "done"), skipped: m.records.WithLabelValues(kind, "passed"), retried: m.records.WithLabelValues(kind, "again"),
		purged: m.purged.WithLabelValues(kind), failures: m.failures.WithLabelValues(kind),
		inFlight: m.inFlight.WithLabelValues(kind), waiting: m.waiting.WithLabelValues(kind),
	}
}
