package airquality

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

type metrics struct {
	runs    *prometheus.CounterVec
	seconds prometheus.Histogram
	hour    prometheus.Gauge
	removed *prometheus.CounterVec
}

func newMetrics(reg prometheus.Registerer, database string) *metrics {
	auto := promauto.With(reg)
	labels := prometheus.Labels{"database": database}
	return &metrics{
		runs: auto.NewCounterVec(prometheus.CounterOpts{
			Name: "vayu_rollup_runs_total", ConstLabels: labels,
			Help: "Roll-ups of readings into hours and days, by kind (increment, backfill) and outcome (done, idle, failed).",
		}, []string{"kind", "outcome"}),
		seconds: auto.NewHistogram(prometheus.HistogramOpts{
			Name: "vayu_rollup_seconds", ConstLabels: labels,
			Help:    "Wall time of a roll-up that computed figures.",
			Buckets: prometheus.ExponentialBuckets(0.05, 2, 12),
		}),
		hour: auto.NewGauge(prometheus.GaugeOpts{
			Name: "vayu_rollup_last_success_timestamp_seconds", ConstLabels: labels,
			Help: "When the last roll-up succeeded, Unix seconds.",
		}),
		removed: auto.NewCounterVec(prometheus.CounterOpts{
			Name: "vayu_rollup_removed_rows_total", ConstLabels: labels,
			Help: "Rows that a roll-up removed because their hour or day lost its readings or its AQI, by table.",
		}, []string{"table"}),
	}
}

func (m *metrics) observe(kind string, result Result, err error, elapsed time.Duration) {
	switch {
	case err != nil:
		m.runs.WithLabelValues(kind, "failed").Inc()
		return
	case result.Stations == 0:
		m.runs.WithLabelValues(kind, "idle").Inc()
	default:
		m.runs.WithLabelValues(kind, "done").Inc()
		m.seconds.Observe(elapsed.Seconds())
	}
	m.hour.SetToCurrentTime()
}
