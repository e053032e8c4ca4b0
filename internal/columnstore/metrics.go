package columnstore

import "github.com/prometheus/client_golang/prometheus"

// metrics are the metrics of the engine.
type metrics struct {
	restarts prometheus.Counter
	up       prometheus.Gauge
}

// newMetrics makes the metrics and registers them in reg, if it is not nil.
func newMetrics(reg prometheus.Registerer) (metrics, error) {
	m := metrics{
		restarts: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "vayu_engine_restarts_total", Help: "Restarts of the embedded ClickHouse engine after it died or hung.",
		}),
		up: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "vayu_engine_up", Help: "1 if the embedded ClickHouse engine answers, else 0.",
		}),
	}
	if reg == nil {
		return m, nil
	}
	for _, c := range []prometheus.Collector{m.restarts, m.up} {
		if err := reg.Register(c); err != nil {
			return m, err
		}
	}
	return m, nil
}
