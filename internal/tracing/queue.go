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
	// queueSize limits the queued spans. It covers the spans of some seconds of a busy service.
	// They need a few megabytes, at 1 to 2 KiB each.
	queueSize = 4096
	// maxBatch is the largest number of spans in an export, as in OpenTelemetry's own processor.
	maxBatch = 512
	// batchInterval is the time for which the first span of a batch waits for further spans. The n-th retry of an
	// export follows n times this interval after the previous attempt.
	batchInterval = time.Second
	// sendTimeout limits each attempt to export a batch, except the last. lastSendTimeout limits the last attempt. At
	// shutdown, it limits each export of a queued batch, and also the time within which such exports may start.
	sendTimeout     = 5 * time.Second
	lastSendTimeout = 2 * time.Second
	// maxAttempts limits the attempts to export a batch. The delays of the retries add up to ten seconds, in which a
	// collector can restart. If the collector rejects a batch, more retries would delay later batches for too long.
	maxAttempts = 5
)

// queue is the sdk.SpanProcessor of a Tracer. Ending a span never blocks: a span that meets a full
// queue is dropped and counted. The SDK's own processor does not count dropped spans.
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

// Shutdown implements sdk.SpanProcessor. It does nothing, because run flushes the queue.
func (q *queue) Shutdown(context.Context) error { return nil }

// ForceFlush implements sdk.SpanProcessor. It does nothing.
func (q *queue) ForceFlush(context.Context) error { return nil }

// run exports ended spans until ctx ends. Then, for at most lastSendTimeout, it starts exports of
// the spans that are left in the queue. It drops the rest.
func (q *queue) run(ctx context.Context) {
	if err := q.exporter.Start(ctx); err != nil { // Start never fails with this exporter
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
	_ = q.exporter.Shutdown(context.WithoutCancel(ctx)) // no export is in flight, because only run starts exports
}

// gather returns the next batch. It waits until the batch is full, batchInterval has passed since
// its first span, or ctx has ended.
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

// fill adds queued spans to the given batch, up to maxBatch, without waiting.
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

// send attempts an export up to maxAttempts times, and only once after ctx has ended. If all fail, it drops the batch.
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

// export sends a batch once. It returns true if the collector has accepted the batch. The end of ctx does not
// abort it. Otherwise a retry could send a batch again that the collector has received.
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
