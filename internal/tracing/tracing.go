// Package tracing records the spans of a trace from a request to its webhook deliveries. It exports them to a collector
// with OTLP over HTTP. Tracing is off without an endpoint: a nil *Tracer makes no spans and costs nothing.
//
// The file key.go lists the attributes of spans. Spans hold no API key, account number, mobile number, address, body or
// error text.
package tracing

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	otel "go.opentelemetry.io/otel/trace"
)

// service is the name of this program in collectors.
const service = "vayu"

// Config configures a Tracer.
type Config struct {
	Settings

	Version  string // version of the program
	Instance string // identifies this process among those of the service
	Log      *slog.Logger
	Metrics  prometheus.Registerer // nil for none
}

// Tracer makes spans. A nil Tracer makes none. It is safe for concurrent use.
type Tracer struct {
	spans otel.Tracer
	queue *queue
}

// New returns a Tracer, or nil when the settings have no endpoint. It opens no connection: spans wait in a bounded
// queue until Run. It panics when a metric is already registered.
func New(c Config) (*Tracer, error) {
	m := newMetrics(c.Metrics)
	if c.Endpoint == "" {
		return nil, nil //nolint:nilnil // a nil Tracer makes no spans
	}
	headers, err := c.headers()
	if err != nil {
		return nil, fmt.Errorf("trace.headers: %w", err)
	}
	// The exporter makes no retries, because they would block the queue for too long. The queue makes the retries.
	to := otlptracehttp.NewUnstarted(otlptracehttp.WithEndpointURL(c.url()), otlptracehttp.WithHeaders(headers),
		otlptracehttp.WithTimeout(sendTimeout), otlptracehttp.WithRetry(otlptracehttp.RetryConfig{}))
	q := newQueue(to, c.Log, m)
	provider := sdk.NewTracerProvider(
		sdk.WithSpanProcessor(q),
		sdk.WithSampler(sdk.ParentBased(linkSampler{sdk.TraceIDRatioBased(c.Sample)})),
		sdk.WithResource(resource.NewSchemaless(
			attribute.String("service.name", service), attribute.String("service.version", c.Version), attribute.String("service.instance.id", c.Instance))),
	)
	return &Tracer{spans: provider.Tracer(service), queue: q}, nil
}

// Run exports spans until ctx ends, then flushes the queue for a short time.
func (t *Tracer) Run(ctx context.Context) error {
	if t == nil {
		<-ctx.Done()
		return nil
	}
	t.queue.run(ctx)
	return nil
}

// linkSampler samples a trace with a link if the linked trace was sampled. So the traces that continue a sampled trace
// are sampled too. Traces without a link are sampled by the ratio in the settings. [Tracer.Request] adds the link to a
// client's trace only after this decision, so clients cannot affect the decision.
type linkSampler struct{ sdk.Sampler }

// ShouldSample implements sdk.Sampler.
func (f linkSampler) ShouldSample(p sdk.SamplingParameters) sdk.SamplingResult {
	if len(p.Links) == 0 {
		return f.Sampler.ShouldSample(p)
	}
	if p.Links[0].SpanContext.IsSampled() {
		return sdk.SamplingResult{Decision: sdk.RecordAndSample}
	}
	return sdk.SamplingResult{Decision: sdk.Drop}
}

// Span is a step of a trace. The methods of the zero Span do nothing.
type Span struct{ of otel.Span }

// Set sets an attribute.
func (s Span) Set(key Key, value string) {
	if s.of != nil {
		s.of.SetAttributes(attribute.String(string(key), value))
	}
}

// SetInt sets an attribute to a number.
func (s Span) SetInt(key Key, value int) {
	if s.of != nil {
		s.of.SetAttributes(attribute.Int(string(key), value))
	}
}

// Fail marks a step as failed. It records no error text, because the text may contain personal data.
// The log has the text, with an id that is also an attribute of the span.
func (s Span) Fail() {
	if s.of != nil {
		s.of.SetStatus(codes.Error, "")
	}
}

// End ends a step.
func (s Span) End() {
	if s.of != nil {
		s.of.End()
	}
}

// Done ends a step. If err is not nil, it first marks the step as failed.
func (s Span) Done(err error) {
	if s.of == nil {
		return
	}
	if err != nil {
		s.Fail()
	}
	s.of.End()
}

// ProviderCall has the attributes of a call to a provider.
type ProviderCall struct{ Provider, World, Call, Result, Subject string }

// EndCall sets the attributes of a call to a provider, and then calls Done.
func (s Span) EndCall(e ProviderCall, err error) {
	s.Set(Provider, e.Provider)
	s.Set(World, e.World)
	s.Set(Call, e.Call)
	s.Set(Result, e.Result)
	s.Set(Subject, e.Subject)
	s.Done(err)
}

// Recording reports whether the span will be exported, and thus whether its attributes are needed.
func (s Span) Recording() bool { return s.of != nil && s.of.IsRecording() }

// Kind is the role of a step in its trace, such as client or server.
type Kind = otel.SpanKind

const maxSameTrace = 10 * time.Minute // age of work at which Resume begins another trace

// Kinds of a step, for [Start].
const (
	Internal = otel.SpanKindInternal
	Server   = otel.SpanKindServer   // step that serves a request from outside
	Client   = otel.SpanKindClient   // step that calls an external system
	Producer = otel.SpanKindProducer // step that creates work to be processed later
	Consumer = otel.SpanKindConsumer // step that processes the work of a Producer
)

// Start begins a step of the trace of ctx. If ctx has no trace that is recorded, Start returns the zero Span.
func Start(ctx context.Context, name string, kind Kind) (context.Context, Span) {
	within := otel.SpanFromContext(ctx)
	if !within.IsRecording() {
		return ctx, Span{}
	}
	ctx, span := within.TracerProvider().Tracer(service).Start(ctx, name, otel.WithSpanKind(kind)) //nolint:spancheck // the caller ends it
	return ctx, Span{span}                                                                         //nolint:spancheck // the caller ends it
}

// Start begins a step of the trace of ctx. Unlike the function [Start], it begins a new trace if ctx has none.
func (t *Tracer) Start(ctx context.Context, name string, kind Kind) (context.Context, Span) {
	if t == nil {
		return ctx, Span{}
	}
	ctx, span := t.spans.Start(ctx, name, otel.WithSpanKind(kind)) //nolint:spancheck // the caller ends it
	return ctx, Span{span}                                         //nolint:spancheck // the caller ends it
}

// WithSpanFrom returns ctx with the span of the context `of`, if any, for work that continues after `of` has ended.
func WithSpanFrom(ctx, of context.Context) context.Context {
	span := otel.SpanFromContext(of)
	if !span.SpanContext().IsValid() {
		return ctx
	}
	return otel.ContextWithSpan(ctx, span)
}

// DoneAll ends several spans with [Span.Done] and the same error.
func DoneAll(all []Span, err error) {
	for _, s := range all {
		s.Done(err)
	}
}
