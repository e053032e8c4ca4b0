package sse

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

type metrics struct {
	notices, failures, refused *prometheus.CounterVec
	tooSlow                    prometheus.Counter
}

func newMetrics(s *Service, reg prometheus.Registerer) *metrics {
	auto := promauto.With(reg)
	vec := func(name, help, label string) *prometheus.CounterVec {
		return auto.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, []string{label})
	}
	auto.NewGaugeFunc(prometheus.GaugeOpts{Name: "vayu_live_streams", Help: "Open streams."}, func() float64 {
		s.mu.Lock()
		defer s.mu.Unlock()
		return float64(len(s.streams))
	})
	return &metrics{
		notices:  vec("vayu_live_notices_total", "Messages queued for streams, by kind; a reset replaces notices that were left out.", "kind"),
		failures: vec("vayu_live_look_failures_total", "Failed polls for changes or for ended sessions.", "feed"),
		refused:  vec("vayu_live_refused_total", "Streams refused at the limit of the key (key), the account (account) or the instance (all).", "reason"),
		tooSlow: auto.NewCounter(prometheus.CounterOpts{
			Name: "vayu_live_cut_off_total", Help: "Streams ended because their queue was full.",
		}),
	}
}
