package quota

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

type metrics struct {
	flushFailures prometheus.Counter
	dropped       prometheus.Counter
}

func newMetrics(l *Counters, reg prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		flushFailures: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "vayu_usage_flush_failures_total", Help: "Failed flushes of usage, which are retried.",
		}),
		dropped: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "vayu_usage_dropped_total", Help: "Days of usage and uses of keys that were dropped because their account or key is no longer in the store.",
		}),
	}
	if reg == nil {
		return m, nil
	}
	for _, c := range []prometheus.Collector{
		m.flushFailures, m.dropped,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "vayu_usage_unwritten_calls", Help: "Counted calls that are not in the store yet.",
		}, func() float64 { return float64(l.unwritten()) }),
	} {
		if err := reg.Register(c); err != nil {
			return nil, fmt.Errorf("registering metrics of quotas: %w", err)
		}
	}
	return m, nil
}
