package tracing

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics has the counters of a Tracer. They also exist while tracing is off.
type metrics struct {
	sent, dropped, failures prometheus.Counter
}

func newMetrics(reg prometheus.Registerer) (*metrics, error) {
	spans := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "vayu_trace_spans_total", Help: "Spans acknowledged by the trace collector (sent), and spans dropped after retries or at a full queue (dropped).",
	}, []string{"result"})
	m := &metrics{
		sent: spans.WithLabelValues("sent"), dropped: spans.WithLabelValues("dropped"),
		failures: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "vayu_trace_failures_total", Help: "Failed exports of span batches to the trace collector.",
		}),
	}
	if reg == nil {
		return m, nil
	}
	for _, c := range []prometheus.Collector{spans, m.failures} {
		if err := reg.Register(c); err != nil {
			return nil, fmt.Errorf("registering metrics of traces: %w", err)
		}
	}
	return m, nil
}
