package tracing

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics is what a Tracer counts. They are there when it is off, too.
type metrics struct {
	sent, dropped, failures prometheus.Counter
}

func newMetrics(reg prometheus.Registerer) (*metrics, error) {
	spans := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "vayu_trace_spans_total", Help: "Spans of traces that the collector took (sent), and that were given up because it did not or the queue was full (dropped).",
	}, []string{"result"})
	m := &metrics{
		sent: spans.WithLabelValues("sent"), dropped: spans.WithLabelValues("dropped"),
		failures: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "vayu_trace_failures_total", Help: "Times that the collector of traces did not take a batch.",
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
