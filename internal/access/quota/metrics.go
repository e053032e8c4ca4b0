package quota

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

type metrics struct {
	flushFailures prometheus.Counter
	dropped       prometheus.Counter
}

func newMetrics(c *Counters, reg prometheus.Registerer) *metrics {
	auto := promauto.With(reg)
	auto.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "vayu_usage_unwritten_calls", Help: "Counted calls that are not in the store yet.",
	}, c.unwritten)
	return &metrics{
		flushFailures: auto.NewCounter(prometheus.CounterOpts{
			Name: "vayu_usage_flush_failures_total", Help: "Failed flushes of usage, which are retried.",
		}),
		dropped: auto.NewCounter(prometheus.CounterOpts{
			Name: "vayu_usage_dropped_total", Help: "Rows of usage that were dropped because their account or key was deleted.",
		}),
	}
}
