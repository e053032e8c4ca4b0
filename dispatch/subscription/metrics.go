package subscription

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

type metrics struct {
	refreshFailures prometheus.Counter
	purgeFailures   prometheus.Counter
}

func newMetrics(cache *Cache, reg prometheus.Registerer) *metrics {
	auto := promauto.With(reg)
	auto.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "vayu_webhook_subscriptions", Help: "Subscriptions in memory, including paused ones.",
	}, func() float64 { return float64(cache.Snapshot().size) })
	auto.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "vayu_webhook_unreadable_secrets", Help: "Subscriptions with a secret that cannot be decrypted.",
	}, func() float64 { return float64(cache.Snapshot().unreadable) })
	auto.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "vayu_webhook_age_seconds", Help: "Time since the last refresh of the cache of subscriptions, seconds.",
	}, func() float64 { return cache.follower.Age().Seconds() })
	return &metrics{
		refreshFailures: auto.NewCounter(prometheus.CounterOpts{
			Name: "vayu_webhook_look_failures_total", Help: "Failed refreshes of the cache of subscriptions.",
		}),
		purgeFailures: auto.NewCounter(prometheus.CounterOpts{
			Name: "vayu_webhook_purge_failures_total", Help: "Failed purges of deleted subscriptions.",
		}),
	}
}
