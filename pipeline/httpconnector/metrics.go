package httpconnector

import (
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics holds the metrics of calls and callbacks. All clients with one registerer share them.
type metrics struct {
	calls     *prometheus.CounterVec
	seconds   *prometheus.HistogramVec
	open      *prometheus.GaugeVec
	callbacks *prometheus.CounterVec
}

func newMetrics(reg prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "vayu_upstream_calls_total", Help: "Calls to providers, by outcome.",
		}, []string{"upstream", "call", "outcome"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "vayu_upstream_call_seconds", Help: "Duration of calls to providers, including the wait for a slot.",
			Buckets: []float64{.01, .03, .1, .3, 1, 3, 10, 30, 100},
		}, []string{"upstream", "call"}),
		open: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "vayu_upstream_breaker_open", Help: "1 while the circuit breaker of a provider is open, by lane.",
		}, []string{"upstream", "lane"}),
		callbacks: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "vayu_upstream_callbacks_total", Help: "Callbacks of providers, by outcome.",
		}, []string{"upstream", "outcome"}),
	}
	if reg == nil {
		return m, nil
	}
	return m, errors.Join(registerShared(reg, &m.calls), registerShared(reg, &m.seconds), registerShared(reg, &m.open), registerShared(reg, &m.callbacks))
}

// registerShared registers a metric, or adopts the one that another client registered.
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
