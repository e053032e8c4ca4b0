// Package tracing makes the spans of a trace that goes from a request to the webhook
// that tells of it, and sends them to a collector with OTLP over HTTP. It is off
// unless there is an endpoint: a nil *Tracer makes no spans and costs nothing.
//
// What spans hold is named here, key by key. No key, account number, mobile number,
// address, body or text of an error is among it.
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

// service is the name under which collectors show this program.
const service = "vayu"

// Config is what a Tracer is made of.
type Config struct {
	Settings

	Version  string // of the program
	Instance string // tells this process from others of the same service
	Log      *slog.Logger
	Metrics  prometheus.Registerer // nil for none
}

// Tracer makes spans. A nil Tracer makes none. It can be used by many goroutines at
// once.
type Tracer struct {
	spans otel.Tracer
	queue *queue
}

// New returns a Tracer, which is nil when the settings have no endpoint. It connects
// to nothing: spans wait in a bounded queue until Run. It fails when a metric is
// registered already.
func New(c Config) (*Tracer, error) {
	m, err := newMetrics(c.Metrics)
	if err != nil || c.Endpoint == "" {
		return nil, err
	}
	headers, err := c.headers()
	if err != nil {
		return nil, fmt.Errorf("trace.headers: %w", err)
	}
	// Its own retries would hold a batch for as long as they like; the queue has some.
	to := otlptracehttp.NewUnstarted(otlptracehttp.WithEndpointURL(c.url()), otlptracehttp.WithHeaders(headers),
		otlptracehttp.WithTimeout(sendMost), otlptracehttp.WithRetry(otlptracehttp.RetryConfig{}))
	q := newQueue(to, c.Log, m)
	provider := sdk.NewTracerProvider(
		sdk.WithSpanProcessor(q),
		sdk.WithSampler(sdk.ParentBased(follow{sdk.TraceIDRatioBased(c.Sample)})),
		sdk.WithResource(resource.NewSchemaless(
			attribute.String("service.name", service), attribute.String("service.version", c.Version), attribute.String("service.instance.id", c.Instance))),
	)
	return &Tracer{spans: provider.Tracer(service), queue: q}, nil
}

// Run sends spans until ctx ends, and then what waits, for a moment.
func (t *Tracer) Run(ctx context.Context) error {
	if t == nil {
		<-ctx.Done()
		return nil
	}
	t.queue.run(ctx)
	return nil
}

// follow samples what is linked to an earlier trace as that was, so that what happens
// hours later to a trace that was kept is kept as well. Everything else is up to the
// ratio. Links that a client asks for come after this decision.
type follow struct{ sdk.Sampler }

// ShouldSample implements sdk.Sampler.
func (f follow) ShouldSample(p sdk.SamplingParameters) sdk.SamplingResult {
	if len(p.Links) == 0 {
		return f.Sampler.ShouldSample(p)
	}
	if p.Links[0].SpanContext.IsSampled() {
		return sdk.SamplingResult{Decision: sdk.RecordAndSample}
	}
	return sdk.SamplingResult{Decision: sdk.Drop}
}

// Span is a step of a trace. The zero Span is none, and can be used as any other.
type Span struct{ of otel.Span }

// Set notes a value of a step.
func (s Span) Set(key Key, value string) {
	if s.of != nil {
		s.of.SetAttributes(attribute.String(string(key), value))
	}
}

// SetInt is Set for a number.
func (s Span) SetInt(key Key, value int) {
	if s.of != nil {
		s.of.SetAttributes(attribute.Int(string(key), value))
	}
}

// Fail marks a step that has failed. Texts of errors hold addresses and worse, so
// that there is none: the log has it, beside the same id.
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

// Done is End, after Fail when there is an error.
func (s Span) Done(err error) {
	if s.of == nil {
		return
	}
	if err != nil {
		s.Fail()
	}
	s.of.End()
}

// Exchange is a call to a provider, and what came of it.
type Exchange struct{ Provider, World, Call, Result, Subject string }

// Exchanged is Done for a call to a provider.
func (s Span) Exchanged(e Exchange, err error) {
	s.Set(Provider, e.Provider)
	s.Set(World, e.World)
	s.Set(Call, e.Call)
	s.Set(Result, e.Result)
	s.Set(Subject, e.Subject)
	s.Done(err)
}

// Kept reports whether the span is going to be sent: whether its values are worth
// finding out.
func (s Span) Kept() bool { return s.of != nil && s.of.IsRecording() }

// Kind says what a step is to others.
type Kind = otel.SpanKind

// The kinds of steps.
const (
	Inside   = otel.SpanKindInternal
	Answers  = otel.SpanKindServer   // a request from outside
	Asks     = otel.SpanKindClient   // somebody outside
	Tells    = otel.SpanKindProducer // something that is taken up later
	TakesUp  = otel.SpanKindConsumer // what was told before
	nearMost = 10 * time.Minute
)

// Start begins a step of the trace that ctx is in; outside of any it begins none.
func Start(ctx context.Context, name string, kind Kind) (context.Context, Span) {
	within := otel.SpanFromContext(ctx)
	if !within.IsRecording() {
		return ctx, Span{}
	}
	ctx, span := within.TracerProvider().Tracer(service).Start(ctx, name, otel.WithSpanKind(kind)) //nolint:spancheck // the caller ends it
	return ctx, Span{span}                                                                         //nolint:spancheck // the caller ends it
}

// Start is [Start] that begins a trace when ctx is in none.
func (t *Tracer) Start(ctx context.Context, name string, kind Kind) (context.Context, Span) {
	if t == nil {
		return ctx, Span{}
	}
	ctx, span := t.spans.Start(ctx, name, otel.WithSpanKind(kind)) //nolint:spancheck // the caller ends it
	return ctx, Span{span}                                         //nolint:spancheck // the caller ends it
}

// Along is ctx within the trace of another: for what goes on when that has ended.
func Along(ctx, of context.Context) context.Context {
	span := otel.SpanFromContext(of)
	if !span.SpanContext().IsValid() {
		return ctx
	}
	return otel.ContextWithSpan(ctx, span)
}

// DoneAll is [Span.Done] for several.
func DoneAll(all []Span, err error) {
	for _, s := range all {
		s.Done(err)
	}
}
