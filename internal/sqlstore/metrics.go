package sqlstore

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics is what the store counts.
type metrics struct {
	changes   prometheus.Histogram
	commits   prometheus.Counter
	conflicts prometheus.Counter
	faults    prometheus.Counter
	unswept   prometheus.Counter
}

func newMetrics(reg prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		changes: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "vayu_state_change_seconds", Help: "Time from asking for a change to its being durable, seconds.",
			Buckets: []float64{.0003, .001, .003, .01, .03, .1, .3, 1, 3, 10},
		}),
		commits: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "vayu_state_commits_total", Help: "Commits; one carries many changes on SQLite.",
		}),
		conflicts: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "vayu_state_conflicts_total", Help: "Changes tried again because another one went first.",
		}),
		faults: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "vayu_state_faults_total", Help: "Errors of a store that cannot work: disk full, server away.",
		}),
		unswept: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "vayu_state_sweep_failures_total", Help: "Failed tries to delete old rows of commit_proof.",
		}),
	}
	if reg == nil {
		return m, nil
	}
	for _, c := range []prometheus.Collector{m.changes, m.commits, m.conflicts, m.faults, m.unswept} {
		if err := reg.Register(c); err != nil {
			return nil, fmt.Errorf("registering metrics of the state store: %w", err)
		}
	}
	return m, nil
}
