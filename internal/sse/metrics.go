package sse

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics is what the service counts.
type metrics struct {
	notices, failures, refused *prometheus.CounterVec
	cutOff                     prometheus.Counter
}

func newMetrics(s *Service, reg prometheus.Registerer) (*metrics, error) {
	vec := func(name, help, label string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, []string{label})
	}
	m := &metrics{
		notices:  vec("vayu_live_notices_total", "Messages that were put into the queues of streams, by kind; reset says that others were left out.", "kind"),
		failures: vec("vayu_live_look_failures_total", "Looks for changes, or for ended sessions, that failed.", "feed"),
		refused:  vec("vayu_live_refused_total", "Streams that were refused, because a key (key), an account (account) or the instance (all) had as many as it may have.", "reason"),
		cutOff: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "vayu_live_cut_off_total", Help: "Streams that were ended because their clients did not read.",
		}),
	}
	if reg == nil {
		return m, nil
	}
	for _, c := range []prometheus.Collector{
		m.notices, m.failures, m.refused, m.cutOff,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "vayu_live_streams", Help: "Streams that are open."}, func() float64 {
			s.mu.Lock()
			defer s.mu.Unlock()
			return float64(len(s.streams))
		}),
	} {
		if err := reg.Register(c); err != nil {
			return nil, fmt.Errorf("registering the metrics of live notices: %w", err)
		}
	}
	return m, nil
}
