package httpconnector

import (
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics are shared by all upstreams of a process.
type metrics struct {
	calls     *prometheus.CounterVec
	seconds   *prometheus.HistogramVec
	open      *prometheus.GaugeVec
	callbacks *prometheus.CounterVec
}

func newMetrics(reg prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "vayu_upstream_calls_total", Help: "Calls of upstreams, by what became of them.",
		}, []string{"upstream", "call", "outcome"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "vayu_upstream_call_seconds", Help: "How long calls of upstreams took, the waiting for room included.",
			Buckets: []float64{.01, .03, .1, .3, 1, 3, 10, 30, 100},
		}, []string{"upstream", "call"}),
		open: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "vayu_upstream_breaker_open", Help: "1 while an upstream is not called because it has failed, for calls and for those that stand aside.",
		}, []string{"upstream", "lane"}),
		callbacks: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "vayu_upstream_callbacks_total", Help: "Requests of upstreams to us, by what became of them.",
		}, []string{"upstream", "outcome"}),
	}
	if reg == nil {
		return m, nil
	}
	return m, errors.Join(registerShared(reg, &m.calls), registerShared(reg, &m.seconds), registerShared(reg, &m.open), registerShared(reg, &m.callbacks))
}

// registerShared registers a metric, or takes the one that another client has registered.
func registerShared[T prometheus.Collector](reg prometheus.Registerer, c *T) error {
	err := reg.Register(*c)
	if there, ok := errors.AsType[prometheus.AlreadyRegisteredError](err); ok {
		if same, ok := there.ExistingCollector.(T); ok {
			*c = same
			return nil
		}
	}
	if err != nil {
		return fmt.Errorf("registering a metric of upstreams: %w", err)
	}
	return nil
}
