package sqlstore

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics are the metrics of the store.
type metrics struct {
	changes       prometheus.Histogram
	commits       prometheus.Counter
	conflicts     prometheus.Counter
	faults        prometheus.Counter
	sweepFailures prometheus.Counter
}

func newMetrics(reg prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		changes: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "vayu_state_change_seconds", Help: "Time from the request of a change until it is durable, seconds.",
			Buckets: []float64{.0003, .001, .003, .01, .03, .1, .3, 1, 3, 10},
		}),
		commits: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "vayu_state_commits_total", Help: "Commits; on SQLite one commit holds many changes.",
		}),
		conflicts: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "vayu_state_conflicts_total", Help: "Changes retried after a conflict with another change.",
		}),
		faults: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "vayu_state_faults_total", Help: "Errors of an unavailable store: disk full, server unreachable.",
		}),
		sweepFailures: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "vayu_state_sweep_failures_total", Help: "Failed attempts to delete old rows of commit_proof.",
		}),
	}
	if reg == nil {
		return m, nil
	}
	for _, c := range []prometheus.Collector{m.changes, m.commits, m.conflicts, m.faults, m.sweepFailures} {
		if err := reg.Register(c); err != nil {
			return nil, fmt.Errorf("registering metrics of the state store: %w", err)
		}
	}
	return m, nil
}
