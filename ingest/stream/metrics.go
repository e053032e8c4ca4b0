package stream

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"vayu/ingest/runner"
)

// Metrics counts the messages of streams. All streams of a process share one Metrics. The comments of the fields name
// the labels.
type Metrics struct {
	sources   *runner.Metrics
	messages  *prometheus.CounterVec // source, outcome
	connected *prometheus.GaugeVec   // source
	failures  *prometheus.CounterVec // source
	devices   *prometheus.GaugeVec   // source, state
}

// NewMetrics makes the metrics and registers them. The parameter `sources` has the metrics of all sources, which count
// the readings of streams too.
func NewMetrics(registry prometheus.Registerer, sources *runner.Metrics) *Metrics {
	auto := promauto.With(registry)
	return &Metrics{
		sources: sources,
		messages: auto.NewCounterVec(prometheus.CounterOpts{
			Name: "vayu_stream_messages_total", Help: "Messages of a stream by outcome.",
		}, []string{"source", "outcome"}),
		connected: auto.NewGaugeVec(prometheus.GaugeOpts{
			Name: "vayu_stream_connected", Help: "1 while the stream is connected to its broker, else 0. Only the instance that has the lease of the source has the gauge.",
		}, []string{"source"}),
		failures: auto.NewCounterVec(prometheus.CounterOpts{
			Name: "vayu_stream_connection_failures_total", Help: "Failed or lost connections to the broker of a stream; each is retried.",
		}, []string{"source"}),
		devices: auto.NewGaugeVec(prometheus.GaugeOpts{
			Name: "vayu_stream_devices", Help: "Devices of a stream by the state of their availability topic: online or offline.",
		}, []string{"source", "state"}),
	}
}

// start sets the metrics of a stream that begins.
func (m *Metrics) start(source string, maxSilence time.Duration) {
	m.sources.StartStream(source, maxSilence, time.Now())
	for _, outcome := range outcomes {
		m.messages.WithLabelValues(source, string(outcome))
	}
	m.failures.WithLabelValues(source)
	m.connected.WithLabelValues(source).Set(0)
}

// end removes the gauges of a stream, because another instance may run the stream next.
func (m *Metrics) end(source string) {
	m.connected.DeleteLabelValues(source)
	m.devices.DeletePartialMatch(prometheus.Labels{"source": source})
	m.sources.EndStream(source)
}
