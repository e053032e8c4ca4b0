package columnstore

import "github.com/prometheus/client_golang/prometheus"

// metrics are what an operator sees of the engine.
type metrics struct {
	restarts prometheus.Counter
	up       prometheus.Gauge
}

// newMetrics registers them; nil registers nothing.
func newMetrics(reg prometheus.Registerer) (metrics, error) {
	m := metrics{
		restarts: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "vayu_engine_restarts_total", Help: "How often the embedded ClickHouse engine was started again after it died or hung.",
		}),
		up: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "vayu_engine_up", Help: "1 while the embedded ClickHouse engine answers, 0 otherwise.",
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
