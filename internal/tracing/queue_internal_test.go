package tracing

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	proto "go.opentelemetry.io/proto/otlp/trace/v1"

	"vayu/internal/testing/fixture"
)

// slowCollector accepts each batch after a time.
type slowCollector time.Duration

func (slowCollector) Start(context.Context) error { return nil }
func (slowCollector) Stop(context.Context) error  { return nil }

func (c slowCollector) UploadTraces(context.Context, []*proto.ResourceSpans) error {
	time.Sleep(time.Duration(c)) // of the bubble
	return nil
}

// The queue is flushed at shutdown, as far as exports can start within lastSendTimeout.
func TestShutdownFlushesSpans(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		collector     slowCollector
		sent, dropped float64
	}{
		"fast": {slowCollector(time.Millisecond), 2000, 0},
		"slow": {slowCollector(lastSendTimeout - time.Millisecond), 2 * maxBatch, 2000 - 2*maxBatch},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				reg := prometheus.NewRegistry()
				q := newQueue(otlptrace.NewUnstarted(c.collector), nil, newMetrics(reg))
				tracer := sdk.NewTracerProvider(sdk.WithSpanProcessor(q)).Tracer("test")
				for range 2000 {
					_, s := tracer.Start(t.Context(), "step", trace.WithSpanKind(trace.SpanKindInternal))
					s.End()
				}
				stopping, stop := context.WithCancel(t.Context())
				stop()
				q.run(stopping)
				for result, want := range map[string]float64{"sent": c.sent, "dropped": c.dropped} {
					if got := fixture.MetricValue(t, reg, "vayu_trace_spans_total", "result", result); got != want {
						t.Errorf("%v spans were %s, want %v", got, result, want)
					}
				}
			})
		})
	}
}
