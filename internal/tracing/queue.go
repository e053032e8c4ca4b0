package tracing

import (
	"context"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	sdk "go.opentelemetry.io/otel/sdk/trace"

	"vayu/internal/failurelog"
	"vayu/internal/sleep"
)

const (
	// queueSize bounds the queued spans. It covers some seconds of a busy service, and
	// a few megabytes at 1 to 2 KiB each.
	queueSize = 4096
	// maxBatch is the number of spans of an export, as in OpenTelemetry's own
	// processor.
	maxBatch = 512
	// batchInterval is how long a span waits for others of its batch.
	batchInterval = time.Second
	// sendTimeout bounds an export, and lastSendTimeout the exports at shutdown.
	sendTimeout     = 5 * time.Second
	lastSendTimeout = 2 * time.Second
	// maxAttempts bounds the exports of a batch. A restarting collector is unavailable
	// for seconds. A rejected batch must not delay later ones.
	maxAttempts = 5
)

// queue is the sdk.SpanProcessor of a Tracer. Ending a span never blocks: a span that
// meets a full queue is dropped and counted. The SDK's own processor has no such
// counter.
type queue struct {
	exporter *otlptrace.Exporter
	ended    chan sdk.ReadOnlySpan
	metrics  *metrics
	failures *failurelog.Log
}

func newQueue(to *otlptrace.Exporter, log *slog.Logger, m *metrics) *queue {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &queue{
		exporter: to, ended: make(chan sdk.ReadOnlySpan, queueSize), metrics: m,
		failures: failurelog.New(log, "traces: the collector", "sending spans", "spans wait, and are dropped when the queue is full", m.failures),
	}
}

// OnStart implements sdk.SpanProcessor.
func (q *queue) OnStart(context.Context, sdk.ReadWriteSpan) {}

// OnEnd implements sdk.SpanProcessor.
func (q *queue) OnEnd(s sdk.ReadOnlySpan) {
	if !s.SpanContext().IsSampled() {
		return
	}
	select {
	case q.ended <- s:
	default:
		q.metrics.dropped.Inc()
	}
}

// Shutdown implements sdk.SpanProcessor; run flushes the queue.
func (q *queue) Shutdown(context.Context) error { return nil }

// ForceFlush implements sdk.SpanProcessor.
func (q *queue) ForceFlush(context.Context) error { return nil }

// run exports ended spans until ctx ends, then those left in the queue.
func (q *queue) run(ctx context.Context) {
	if err := q.exporter.Start(ctx); err != nil { // with this client it never fails
		q.failures.Observe(ctx, err)
	}
	for ctx.Err() == nil {
		if batch := q.gather(ctx); len(batch) > 0 {
			q.send(ctx, batch)
		}
	}
	for begun := time.Now(); len(q.ended) > 0; {
		batch := q.fill(nil)
		if time.Since(begun) >= lastSendTimeout || !q.export(ctx, batch, lastSendTimeout) {
			q.metrics.dropped.Add(float64(len(batch)))
		}
	}
	_ = q.exporter.Shutdown(context.WithoutCancel(ctx)) // nothing is in flight
}

// gather waits for a full batch, or for batchInterval after its first span.
func (q *queue) gather(ctx context.Context) (batch []sdk.ReadOnlySpan) {
	select {
	case first := <-q.ended:
		batch = append(batch, first)
	case <-ctx.Done():
		return nil
	}
	timer := time.NewTimer(batchInterval)
	defer timer.Stop()
	for len(batch) < maxBatch {
		select {
		case next := <-q.ended:
			batch = append(batch, next)
		case <-timer.C:
			return batch
		case <-ctx.Done():
			return q.fill(batch)
		}
	}
	return batch
}

// fill adds queued spans to batch without waiting.
func (q *queue) fill(batch []sdk.ReadOnlySpan) []sdk.ReadOnlySpan {
	for len(batch) < maxBatch {
		select {
		case next := <-q.ended:
			batch = append(batch, next)
		default:
			return batch
		}
	}
	return batch
}

// send exports a batch with retries. After the end of ctx it tries once more, with a
// short timeout.
func (q *queue) send(ctx context.Context, batch []sdk.ReadOnlySpan) {
	for n := 1; ctx.Err() == nil && n < maxAttempts; n++ {
		if q.export(ctx, batch, sendTimeout) {
			return
		}
		sleep.For(ctx, time.Duration(n)*batchInterval)
	}
	if !q.export(ctx, batch, lastSendTimeout) {
		q.metrics.dropped.Add(float64(len(batch)))
	}
}

// export sends a batch once. It continues after the end of ctx, because the collector
// may have received it.
func (q *queue) export(ctx context.Context, batch []sdk.ReadOnlySpan, timeout time.Duration) bool {
	limit, done := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	defer done()
	err := q.exporter.ExportSpans(limit, batch)
	q.failures.Observe(ctx, err)
	if err == nil {
		q.metrics.sent.Add(float64(len(batch)))
	}
	return err == nil
}
