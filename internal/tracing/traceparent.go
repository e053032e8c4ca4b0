package tracing

import (
	"context"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/propagation"
	otel "go.opentelemetry.io/otel/trace"
)

// header is the name of the W3C trace context header.
const header = "traceparent"

// parentLength is the length of a traceparent of version 00.
const parentLength = 55

// Traceparent returns the trace of ctx as a W3C traceparent, or "" if ctx has no trace. The traceparent is stored with
// work that continues the trace later.
func Traceparent(ctx context.Context) string {
	if !otel.SpanContextFromContext(ctx).IsValid() {
		return ""
	}
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier[header]
}

func parse(parent string) otel.SpanContext {
	if len(parent) != parentLength {
		return otel.SpanContext{}
	}
	ctx := propagation.TraceContext{}.Extract(context.Background(), propagation.MapCarrier{header: parent})
	return otel.SpanContextFromContext(ctx)
}

// Resume begins a step of work that was stored at the time `at`, maybe by another process. `parent` is the traceparent
// that was stored with the work. Within ten minutes after `at`, the step belongs to the stored trace.
//
// After ten minutes, Resume begins a new trace with a link to the stored trace, because collectors close old traces and
// show long ones badly. The new trace is sampled if the stored trace was sampled. If `parent` is empty or invalid,
// Resume does the same as [Tracer.Start].
func (t *Tracer) Resume(ctx context.Context, parent string, at, now time.Time, name string, kind Kind) (context.Context, Span) {
	if t == nil {
		return ctx, Span{}
	}
	origin := parse(parent)
	if !origin.IsValid() {
		return t.Start(ctx, name, kind)
	}
	if now.Sub(at) < maxSameTrace {
		return t.Start(otel.ContextWithRemoteSpanContext(ctx, origin), name, kind)
	}
	ctx, span := t.spans.Start(ctx, name, otel.WithNewRoot(), otel.WithSpanKind(kind), otel.WithLinks(otel.Link{SpanContext: origin})) //nolint:spancheck // the caller ends it
	return ctx, Span{span}                                                                                                             //nolint:spancheck // the caller ends it
}

// Request begins the trace of a request. If the trace is sampled, it gets a link to the client's
// traceparent. The client's traceparent has no other effect. Otherwise a client could fill the
// collector, or mix its requests into traces of other clients.
func (t *Tracer) Request(r *http.Request, name string) (*http.Request, Span) {
	if t == nil {
		return r, Span{}
	}
	ctx, span := t.Start(r.Context(), name, Server)
	if given := r.Header[http.CanonicalHeaderKey(header)]; len(given) == 1 && span.Recording() {
		if client := parse(given[0]); client.IsValid() {
			span.of.AddLink(otel.Link{SpanContext: client})
		}
	}
	return r.WithContext(ctx), span
}
