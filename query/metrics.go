package query

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"vayu/query/aggregate"
	"vayu/query/snapshot"
	"vayu/schema"
)

type metrics struct {
	reg                            prometheus.Registerer
	builds, errors, loads, refused *prometheus.CounterVec
}

// worldMetrics are the counters of one world (live or sandbox).
type worldMetrics struct {
	builds, errors, historyLoads, historyErrors prometheus.Counter
}

func newMetrics(reg prometheus.Registerer) *metrics {
	auto := promauto.With(reg)
	vec := func(name, help string) *prometheus.CounterVec {
		return auto.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, []string{"world"})
	}
	return &metrics{
		reg:     reg,
		builds:  vec("vayu_snapshot_builds_total", "Snapshots built and published."),
		errors:  vec("vayu_snapshot_errors_total", "Snapshots that could not be built or written to disk."),
		loads:   vec("vayu_history_loads_total", "Cities' histories read from ClickHouse, whole or in part."),
		refused: vec("vayu_history_errors_total", "Reads of history that failed; cached days were served where present."),
	}
}

func (m *metrics) world(w schema.World) *worldMetrics {
	name := w.String()
	return &worldMetrics{
		builds: m.builds.WithLabelValues(name), errors: m.errors.WithLabelValues(name),
		historyLoads: m.loads.WithLabelValues(name), historyErrors: m.refused.WithLabelValues(name),
	}
}

// watch registers the gauges of each world, whose values are computed at each scrape.
func (m *metrics) watch(s *Service) {
	auto := promauto.With(m.reg)
	for _, w := range s.worlds {
		gauge := func(name, help string, value func(*snapshot.Snapshot) float64) {
			auto.NewGaugeFunc(prometheus.GaugeOpts{
				Name: name, Help: help, ConstLabels: prometheus.Labels{"world": w.world.String()},
			}, func() float64 {
				if snap := w.publisher.Latest(); snap != nil {
					return value(snap)
				}
				return 0
			})
		}
		gauge("vayu_snapshot_age_seconds", "Time since the published snapshot was built, seconds.",
			func(snap *snapshot.Snapshot) float64 { return s.now().Sub(snap.Built).Seconds() })
		gauge("vayu_air_age_seconds", "Age of the newest hour of any city, seconds; 0 while there is none.",
			func(snap *snapshot.Snapshot) float64 {
				if at := snap.Newest(); at > 0 {
					return s.now().Sub(aggregate.Instant(at)).Seconds()
				}
				return 0
			})
		gauge("vayu_snapshot_cities", "Cities in the published snapshot.",
			func(snap *snapshot.Snapshot) float64 { return float64(len(snap.Cities)) })
		gauge("vayu_history_bytes", "Memory used by cached history, bytes.",
			func(*snapshot.Snapshot) float64 { return float64(w.history.Bytes()) })
	}
}
