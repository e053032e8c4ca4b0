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
	// queueMost is how many spans wait at most: some seconds of a busy service, and at
	// 1 to 2 KiB each a few megabytes while the collector is away.
	queueMost = 4096
	// batchMost is how many are sent at once, as OpenTelemetry's own processor does.
	batchMost = 512
	// sendEvery is how long a span waits for others.
	sendEvery = time.Second
	// sendMost bounds one try, and sendLast those at the end.
	sendMost = 5 * time.Second
	sendLast = 2 * time.Second
	// tries is how often a batch is sent: a collector that is being restarted is away
	// for seconds, and one that refuses a batch must not keep the others waiting.
	tries = 5
)

// queue is the sdk.SpanProcessor of a Tracer. Ending a span never waits: when the
// queue is full, the span is dropped and counted. That is why it is not the SDK's own,
// which tells nobody how many it drops.
type queue struct {
	to      *otlptrace.Exporter
	ended   chan sdk.ReadOnlySpan
	metrics *metrics
	outage  *failurelog.Outage
}

func newQueue(to *otlptrace.Exporter, log *slog.Logger, m *metrics) *queue {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &queue{
		to: to, ended: make(chan sdk.ReadOnlySpan, queueMost), metrics: m,
		outage: failurelog.New(log, "traces: the collector", "sending spans", "they wait, and are dropped when there are too many", m.failures),
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

// Shutdown implements sdk.SpanProcessor; run does what there is to do.
func (q *queue) Shutdown(context.Context) error { return nil }

// ForceFlush implements sdk.SpanProcessor.
func (q *queue) ForceFlush(context.Context) error { return nil }

// run sends what has ended until ctx ends, then what is left.
func (q *queue) run(ctx context.Context) {
	if err := q.to.Start(ctx); err != nil { // of this client it never fails
		q.outage.Tell(ctx, err)
	}
	for ctx.Err() == nil {
		if batch := q.gather(ctx); len(batch) > 0 {
			q.send(ctx, batch)
		}
	}
	for begun := time.Now(); len(q.ended) > 0; {
		batch := q.waiting(nil)
		if time.Since(begun) >= sendLast || !q.try(ctx, batch, sendLast) {
			q.metrics.dropped.Add(float64(len(batch)))
		}
	}
	_ = q.to.Shutdown(context.WithoutCancel(ctx)) // there is nothing that it would wait for
}

// gather waits for a batch, or for what there is after a while.
func (q *queue) gather(ctx context.Context) (batch []sdk.ReadOnlySpan) {
	select {
	case first := <-q.ended:
		batch = append(batch, first)
	case <-ctx.Done():
		return nil
	}
	timer := time.NewTimer(sendEvery)
	defer timer.Stop()
	for len(batch) < batchMost {
		select {
		case next := <-q.ended:
			batch = append(batch, next)
		case <-timer.C:
			return batch
		case <-ctx.Done():
			return q.waiting(batch)
		}
	}
	return batch
}

// waiting is batch with what can be had without waiting.
func (q *queue) waiting(batch []sdk.ReadOnlySpan) []sdk.ReadOnlySpan {
	for len(batch) < batchMost {
		select {
		case next := <-q.ended:
			batch = append(batch, next)
		default:
			return batch
		}
	}
	return batch
}

// send tries until a batch is there, or has been tried often enough. When ctx ends it
// has one more try, a short one.
func (q *queue) send(ctx context.Context, batch []sdk.ReadOnlySpan) {
	for n := 1; ctx.Err() == nil && n < tries; n++ {
		if q.try(ctx, batch, sendMost) {
			return
		}
		sleep.For(ctx, time.Duration(n)*sendEvery)
	}
	if !q.try(ctx, batch, sendLast) {
		q.metrics.dropped.Add(float64(len(batch)))
	}
}

// try sends a batch once. It goes on when ctx ends: what was begun may be there.
func (q *queue) try(ctx context.Context, batch []sdk.ReadOnlySpan, most time.Duration) bool {
	limit, done := context.WithTimeout(context.WithoutCancel(ctx), most)
	defer done()
	err := q.to.ExportSpans(limit, batch)
	q.outage.Tell(ctx, err)
	if err == nil {
		q.metrics.sent.Add(float64(len(batch)))
	}
	return err == nil
}
