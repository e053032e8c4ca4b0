package monitor

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"vayu/schema"
	"vayu/schema/air"
)

// Metrics are the gauges about the sources. The monitors of both worlds share them. The comments of the fields name the
// labels.
type Metrics struct {
	problem  *prometheus.GaugeVec // source, problem
	coverage *prometheus.GaugeVec // source
	clocks   *prometheus.GaugeVec // source
	checked  *prometheus.GaugeVec // world
	failures prometheus.Counter
}

// NewMetrics makes the metrics and registers them.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	auto := promauto.With(reg)
	m := &Metrics{
		problem: auto.NewGaugeVec(prometheus.GaugeOpts{
			Name: "vayu_source_problem", Help: "1 if a source has the problem (failing, silent, coverage, drift, clock), else 0.",
		}, []string{"source", "problem"}),
		coverage: auto.NewGaugeVec(prometheus.GaugeOpts{
			Name: "vayu_source_coverage_ratio", Help: "Readings of the last settled hour, as a share of the same hours of the last 7 days.",
		}, []string{"source"}),
		clocks: auto.NewGaugeVec(prometheus.GaugeOpts{
			Name: "vayu_source_clocks_ahead", Help: "Stations that sent times in the future in the last 24 hours.",
		}, []string{"source"}),
		checked: auto.NewGaugeVec(prometheus.GaugeOpts{
			Name: "vayu_source_monitor_timestamp_seconds", Help: "Unix time of the last check of the sources of a world, 0 if another instance checks them.",
		}, []string{"world"}),
		failures: auto.NewCounter(prometheus.CounterOpts{
			Name: "vayu_source_monitor_failures_total", Help: "Failed checks of the sources.",
		}),
	}
	for _, w := range schema.Worlds { // the alert needs this series even if no instance is the leader
		m.checked.WithLabelValues(w.String()).Set(0)
	}
	return m
}

// set sets the gauges of a source. `ratio` is the number of readings in an hour, divided by the usual number. If
// `ratio` is negative (unknown), set removes the coverage. `clocks` is the number of stations whose clock is ahead.
func (m *Metrics) set(source string, problems []Problem, ratio float64, clocks int) {
	for _, problem := range air.Problems {
		value := 0.0
		if slices.ContainsFunc(problems, func(p Problem) bool { return p.Problem == problem }) {
			value = 1
		}
		m.problem.WithLabelValues(source, string(problem)).Set(value)
	}
	m.clocks.WithLabelValues(source).Set(float64(clocks))
	if ratio < 0 {
		m.coverage.DeleteLabelValues(source)
		return
	}
	m.coverage.WithLabelValues(source).Set(ratio)
}

// reset removes the gauges of the sources of a world, because another instance may be the leader now and set its own.
func (m *Metrics) reset(world schema.World, sources map[string]Limits) {
	m.checked.WithLabelValues(world.String()).Set(0)
	for source := range sources {
		m.problem.DeletePartialMatch(prometheus.Labels{"source": source})
		m.coverage.DeleteLabelValues(source)
		m.clocks.DeleteLabelValues(source)
	}
}
