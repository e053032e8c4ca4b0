package batch

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// metrics are the metrics of one kind of batches, such as recharges.
type metrics struct {
	accepted               prometheus.Counter
	done, skipped, retried prometheus.Counter
	purged, failures       prometheus.Counter
	inFlight, waiting      prometheus.Gauge
}

// newMetrics registers the metrics of all kinds, and returns a function that selects the metrics of one kind.
func newMetrics(reg prometheus.Registerer) func(kind string) metrics {
	auto := promauto.With(reg)
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return auto.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, append([]string{"kind"}, labels...))
	}
	gauge := func(name, help string) *prometheus.GaugeVec {
		return auto.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, []string{"kind"})
	}
	accepted := counter("vayu_batch_accepted_total", "Accepted batches.")
	records := counter("vayu_batch_records_total",
		"Processed records by outcome: done (begun or rejected), passed (done before), again (failed, is retried).", "outcome")
	purged := counter("vayu_batch_emptied_total", "Batches whose expired results were deleted.")
	failures := counter("vayu_batch_failures_total", "Failures of the state store, lost leases and inconsistent records while batches were processed.")
	inFlight := gauge("vayu_batch_under_way", "Records in flight.")
	waiting := gauge("vayu_batch_waiting_chunks", "Unfinished chunks of batches, leased ones included, as of the last half minute.")
	return func(kind string) metrics {
		return metrics{
			accepted: accepted.WithLabelValues(kind),
			done:     records.WithLabelValues(kind, "done"), skipped: records.WithLabelValues(kind, "passed"), retried: records.WithLabelValues(kind, "again"),
			purged: purged.WithLabelValues(kind), failures: failures.WithLabelValues(kind),
			inFlight: inFlight.WithLabelValues(kind), waiting: waiting.WithLabelValues(kind),
		}
	}
}
