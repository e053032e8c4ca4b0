package tracing

import (
	"context"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/propagation"
	otel "go.opentelemetry.io/otel/trace"
)

// header is the name that W3C gave to what is carried.
const header = "traceparent"

// parentLength is that of a traceparent of version 00.
const parentLength = 55

// Carried is the trace that ctx is in as a W3C traceparent, to be kept with what comes
// of the step; empty for none.
func Carried(ctx context.Context) string {
	if !otel.SpanContextFromContext(ctx).IsValid() {
		return ""
	}
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier[header]
}

// Valid reports whether a text can be what Carried has returned.
func Valid(carried string) bool { return parse(carried).IsValid() }

func parse(carried string) otel.SpanContext {
	if len(carried) != parentLength {
		return otel.SpanContext{}
	}
	ctx := propagation.TraceContext{}.Extract(context.Background(), propagation.MapCarrier{header: carried})
	return otel.SpanContextFromContext(ctx)
}

// Resume begins a step that follows from one that happened at a time, maybe in another
// process, whose trace was carried here. Within ten minutes it belongs to that trace;
// what comes later is a trace of its own with a link to that one, because collectors
// close traces, and show one that lasts for hours as one long bar. Both are kept when
// the first was. With nothing carried it is [Tracer.Start].
func (t *Tracer) Resume(ctx context.Context, carried string, at, now time.Time, name string, kind Kind) (context.Context, Span) {
	if t == nil {
		return ctx, Span{}
	}
	origin := parse(carried)
	if !origin.IsValid() {
		return t.Start(ctx, name, kind)
	}
	if now.Sub(at) < nearMost {
		return t.Start(otel.ContextWithRemoteSpanContext(ctx, origin), name, kind)
	}
	ctx, span := t.spans.Start(ctx, name, otel.WithNewRoot(), otel.WithSpanKind(kind), otel.WithLinks(otel.Link{SpanContext: origin})) //nolint:spancheck // the caller ends it
	return ctx, Span{span}                                                                                                             //nolint:spancheck // the caller ends it
}

// Request begins the trace of a request. The traceparent of its client is linked to
// when the trace is kept and changes nothing else: a stranger who could say which
// traces are kept could fill the collector, and one who could choose their ids could
// mix his requests into those of others.
func (t *Tracer) Request(r *http.Request, name string) (*http.Request, Span) {
	if t == nil {
		return r, Span{}
	}
	ctx, span := t.Start(r.Context(), name, Answers)
	if given := r.Header[http.CanonicalHeaderKey(header)]; len(given) == 1 && span.Kept() {
		if theirs := parse(given[0]); theirs.IsValid() {
			span.of.AddLink(otel.Link{SpanContext: theirs})
		}
	}
	return r.WithContext(ctx), span
}
