package delivery

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

type metrics struct {
	cancelled, purged, overflowed, failures prometheus.Counter
}

func newMetrics(reg prometheus.Registerer) *metrics {
	auto := promauto.With(reg)
	counter := func(name, help string) prometheus.Counter {
		return auto.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	return &metrics{
		cancelled:  counter("vayu_deliveries_cancelled_total", "Waiting deliveries cancelled because their webhook was deleted."),
		purged:     counter("vayu_deliveries_purged_total", "Deliveries purged 30 days after they finished."),
		overflowed: counter("vayu_deliveries_overflowed_total", "Deliveries failed because the backlog of their webhook exceeded its limit."),
		failures:   counter("vayu_deliveries_cleaning_failures_total", "Failed cleanups of deliveries; each is retried."),
	}
}
