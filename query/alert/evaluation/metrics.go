package evaluation

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"vayu/query/alert"
	"vayu/schema"
)

type metrics struct {
	alerts    *prometheus.GaugeVec   // by mode
	evaluated *prometheus.GaugeVec   // by mode
	changes   *prometheus.CounterVec // by event and reason
	seconds   prometheus.Histogram
	failures  prometheus.Counter
}

func newMetrics(reg prometheus.Registerer) *metrics {
	auto := promauto.With(reg)
	m := &metrics{
		alerts: auto.NewGaugeVec(prometheus.GaugeOpts{
			Name: "vayu_alerts", Help: "Active alerts that this instance evaluates; 0 if another instance is the leader.",
		}, []string{"mode"}),
		evaluated: auto.NewGaugeVec(prometheus.GaugeOpts{
			Name: "vayu_alerts_evaluated_timestamp_seconds", Help: "Unix time of the last evaluation of all alerts of a mode, 0 if another instance evaluates them.",
		}, []string{"mode"}),
		changes: auto.NewCounterVec(prometheus.CounterOpts{
			Name: "vayu_alert_changes_total", Help: "Changes of alerts that made an event, by type of event and reason.",
		}, []string{"event", "reason"}),
		seconds: auto.NewHistogram(prometheus.HistogramOpts{
			Name: "vayu_alerts_evaluation_seconds", Help: "Time to evaluate all alerts of a mode after a publication, with the storing of changes.",
			Buckets: []float64{0.001, 0.01, 0.05, 0.25, 1, 2, 5, 30},
		}),
		failures: auto.NewCounter(prometheus.CounterOpts{
			Name: "vayu_alerts_evaluation_failures_total", Help: "Failed evaluations of alerts, which are repeated, and alerts that cannot be read or stored.",
		}),
	}
	m.reset()
	return m
}

// count sets the number of alerts in memory.
func (m *metrics) count(alerts map[string]*alert.Alert) {
	var n [len(schema.Worlds)]int
	for _, a := range alerts {
		n[a.World]++
	}
	for _, w := range schema.Worlds {
		m.alerts.WithLabelValues(w.String()).Set(float64(n[w]))
	}
}

// reset clears the gauges, because another instance may be the leader now.
func (m *metrics) reset() {
	for _, w := range schema.Worlds {
		m.alerts.WithLabelValues(w.String()).Set(0)
		m.evaluated.WithLabelValues(w.String()).Set(0)
	}
}
