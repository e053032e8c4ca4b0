package forecast

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

type metrics struct {
	issued  prometheus.Gauge
	fitted  prometheus.Gauge
	rows    prometheus.Gauge
	runs    *prometheus.CounterVec
	seconds *prometheus.HistogramVec
}

func newMetrics(reg prometheus.Registerer, database string) *metrics {
	auto := promauto.With(reg)
	labels := prometheus.Labels{"database": database}
	return &metrics{
		issued: auto.NewGauge(prometheus.GaugeOpts{
			Name: "vayu_forecast_last_issue_timestamp_seconds", ConstLabels: labels,
			Help: "When forecasts were last issued, Unix seconds; 0 on an instance that does not lead.",
		}),
		fitted: auto.NewGauge(prometheus.GaugeOpts{
			Name: "vayu_forecast_last_fit_timestamp_seconds", ConstLabels: labels,
			Help: "When the model was last fitted, Unix seconds; 0 on an instance that does not lead.",
		}),
		rows: auto.NewGauge(prometheus.GaugeOpts{
			Name: "vayu_forecast_rows", ConstLabels: labels,
			Help: "Forecasts of the last issue, of all places, parameters, horizons and models.",
		}),
		runs: auto.NewCounterVec(prometheus.CounterOpts{
			Name: "vayu_forecast_runs_total", ConstLabels: labels,
			Help: "Fits and issues of forecasts, by kind (fit, issue, fit_hours, issue_hours) and outcome (done, failed).",
		}, []string{"kind", "outcome"}),
		seconds: auto.NewHistogramVec(prometheus.HistogramOpts{
			Name: "vayu_forecast_seconds", ConstLabels: labels,
			Help:    "Wall time of fits and issues of forecasts, by kind.",
			Buckets: prometheus.ExponentialBuckets(0.1, 2, 12),
		}, []string{"kind"}),
	}
}

// observe counts a fit or an issue, and its duration if it succeeded.
func (m *metrics) observe(kind string, err error, elapsed time.Duration) {
	if err != nil {
		m.runs.WithLabelValues(kind, "failed").Inc()
		return
	}
	m.runs.WithLabelValues(kind, "done").Inc()
	m.seconds.WithLabelValues(kind).Observe(elapsed.Seconds())
}

// show sets the gauges with the times of the last issue and of the last fit.
func (m *metrics) show(issued, fitted time.Time) {
	m.issued.Set(float64(max(issued.Unix(), 0)))
	m.fitted.Set(float64(max(fitted.Unix(), 0)))
}

// reset sets the gauges to 0, on an instance that does not lead any more.
func (m *metrics) reset() {
	m.issued.Set(0)
	m.fitted.Set(0)
	m.rows.Set(0)
}
