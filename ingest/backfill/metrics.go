package backfill

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// Metrics counts backfills. All workers of a process share one Metrics. The comments of the fields name the labels.
type Metrics struct {
	ended    *prometheus.CounterVec // source, state
	fraction *prometheus.GaugeVec   // source
	advanced *prometheus.GaugeVec   // source
}

// NewMetrics makes the metrics and registers them.
func NewMetrics(registry prometheus.Registerer) *Metrics {
	auto := promauto.With(registry)
	gauge := func(name, help string) *prometheus.GaugeVec {
		return auto.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, []string{"source"})
	}
	return &Metrics{
		ended: auto.NewCounterVec(prometheus.CounterOpts{
			Name: "vayu_source_backfills_total", Help: "Backfills by command that ended, by state.",
		}, []string{"source", "state"}),
		fraction: gauge("vayu_source_backfill_fraction", "Fetched fraction of the running backfill by command, 0 to 1."),
		advanced: gauge("vayu_source_backfill_advanced_timestamp_seconds", "Unix time of the last progress of the running backfill by command."),
	}
}

// begin sets the gauges when this process starts to work on a backfill. The fraction is 0 until the first progress.
func (m *Metrics) begin(j *Job) {
	m.advanced.WithLabelValues(j.Source).Set(float64(j.Updated.Unix()))
	m.fraction.WithLabelValues(j.Source).Set(0)
}

// advance sets the gauges of the progress. `now` is the time of the last progress. `fraction` is the fetched part of
// the backfill's range, 0 to 1.
func (m *Metrics) advance(source string, fraction float64, now time.Time) {
	m.advanced.WithLabelValues(source).Set(float64(now.Unix()))
	m.fraction.WithLabelValues(source).Set(fraction)
}

// leave deletes the gauges of a backfill on which this process no longer works.
func (m *Metrics) leave(source string) {
	m.advanced.DeleteLabelValues(source)
	m.fraction.DeleteLabelValues(source)
}
