package sqlstore

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

type metrics struct {
	changes   prometheus.Histogram
	commits   prometheus.Counter
	conflicts prometheus.Counter
	faults    prometheus.Counter
}

func newMetrics(reg prometheus.Registerer) *metrics {
	auto := promauto.With(reg)
	return &metrics{
		changes: auto.NewHistogram(prometheus.HistogramOpts{
			Name: "vayu_state_change_seconds", Help: "Time from the request of a change until it is durable, seconds.",
			Buckets: []float64{.0003, .001, .003, .01, .03, .1, .3, 1, 3, 10},
		}),
		commits: auto.NewCounter(prometheus.CounterOpts{
			Name: "vayu_state_commits_total", Help: "Commits; on SQLite one commit holds many changes.",
		}),
		conflicts: auto.NewCounter(prometheus.CounterOpts{
			Name: "vayu_state_conflicts_total", Help: "Changes retried after a conflict with another change.",
		}),
		faults: auto.NewCounter(prometheus.CounterOpts{
			Name: "vayu_state_faults_total", Help: "Errors of an unavailable store: disk full, server unreachable.",
		}),
	}
}
