package subscription

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics is what the book counts.
type metrics struct {
	lookFailures  prometheus.Counter
	purgeFailures prometheus.Counter
}

func newMetrics(b *Book, reg prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		lookFailures: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "vayu_webhook_look_failures_total", Help: "Looks for changed subscriptions that failed.",
		}),
		purgeFailures: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "vayu_webhook_purge_failures_total", Help: "Failed tries to remove the rows of deleted subscriptions.",
		}),
	}
	if reg == nil {
		return m, nil
	}
	for _, c := range []prometheus.Collector{
		m.lookFailures, m.purgeFailures,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "vayu_webhook_subscriptions", Help: "Subscriptions in memory, paused ones too.",
		}, func() float64 { return float64(b.Snapshot().size) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "vayu_webhook_unreadable_secrets", Help: "Subscriptions with a secret that cannot be opened.",
		}, func() float64 { return float64(b.Snapshot().unreadable) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "vayu_webhook_age_seconds", Help: "Time since subscriptions were last compared with the store, seconds.",
		}, func() float64 { return b.age().Seconds() }),
	} {
		if err := reg.Register(c); err != nil {
			return nil, fmt.Errorf("registering metrics of subscriptions: %w", err)
		}
	}
	return m, nil
}
