package push

import (
	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/metric"
)

// accepted is the outcome of a stored reading. Other outcomes are the reasons of package
// ingest.
const accepted = "accepted"

type metrics struct {
	readings *prometheus.CounterVec
	inserts  *prometheus.CounterVec
}

func newMetrics(reg prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		readings: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "vayu_pushed_readings_total", Help: "Pushed readings: accepted, or the reason of the rejection.",
		}, []string{"outcome"}),
		inserts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "vayu_push_inserts_total", Help: "Inserts of pushed readings: done or failed. One insert has the readings of several requests.",
		}, []string{"outcome"}),
	}
	return m, metric.Register(reg, "push", m.readings, m.inserts)
}
