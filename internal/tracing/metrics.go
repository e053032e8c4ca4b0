package tracing

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// metrics has the counters of a Tracer. They also exist while tracing is off.
type metrics struct {
	sent, dropped, failures prometheus.Counter
}

func newMetrics(reg prometheus.Registerer) *metrics {
	auto := promauto.With(reg)
	spans := auto.NewCounterVec(prometheus.CounterOpts{
		Name: "vayu_trace_spans_total", Help: "Spans acknowledged by the trace collector (sent), and spans dropped after retries or at a full queue (dropped).",
	}, []string{"result"})
	m := &metrics{
		sent: spans.WithLabelValues("sent"), dropped: spans.WithLabelValues("dropped"),
		failures: auto.NewCounter(prometheus.CounterOpts{
			Name: "vayu_trace_failures_total", Help: "Failed exports of span batches to the trace collector.",
		}),
	}
	return m
}
