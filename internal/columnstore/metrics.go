package columnstore

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

type metrics struct {
	restarts prometheus.Counter
	up       prometheus.Gauge
}

// newMetrics returns the metrics, registered in reg unless reg is nil.
func newMetrics(reg prometheus.Registerer) metrics {
	auto := promauto.With(reg)
	m := metrics{
		restarts: auto.NewCounter(prometheus.CounterOpts{
			Name: "vayu_engine_restarts_total", Help: "Restarts of the embedded ClickHouse engine after it died or hung.",
		}),
		up: auto.NewGauge(prometheus.GaugeOpts{
			Name: "vayu_engine_up", Help: "1 if the embedded ClickHouse engine answers, else 0.",
		}),
	}
	return m
}
