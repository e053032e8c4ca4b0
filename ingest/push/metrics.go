package push

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// accepted is the metric label of a stored reading. For other readings the label is an [ingest.Reason].
const accepted = "accepted"

type metrics struct {
	readings *prometheus.CounterVec
	inserts  *prometheus.CounterVec
}

func newMetrics(reg prometheus.Registerer) *metrics {
	auto := promauto.With(reg)
	return &metrics{
		readings: auto.NewCounterVec(prometheus.CounterOpts{
			Name: "vayu_pushed_readings_total", Help: "Pushed readings: accepted, or the reason of the rejection.",
		}, []string{"outcome"}),
		inserts: auto.NewCounterVec(prometheus.CounterOpts{
			Name: "vayu_push_inserts_total", Help: "Inserts of pushed readings: done or failed. One insert has the readings of several requests.",
		}, []string{"outcome"}),
	}
}
