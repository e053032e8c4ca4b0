package tracing_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	proto "go.opentelemetry.io/proto/otlp/trace/v1"

	"vayu/internal/config"
	"vayu/internal/testing/fixture"
	"vayu/internal/tracing"
	"vayu/internal/tracing/tracingtest"
)

// running is a tracer that runs until stop or the end of the test.
type running struct {
	*tracing.Tracer

	reg  *prometheus.Registry
	log  *fixture.Log
	stop func()
}

func run(t *testing.T, s tracing.Settings) running {
	t.Helper()
	r := running{reg: prometheus.NewRegistry(), log: &fixture.Log{}}
	var err error
	r.Tracer, err = tracing.New(tracing.Config{Settings: s, Version: "1", Instance: "here/1", Log: slog.New(slog.NewTextHandler(r.log, nil)), Metrics: r.reg})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = r.Run(ctx)
	}()
	r.stop = func() { cancel(); <-done }
	t.Cleanup(r.stop)
	return r
}

// spans returns the span counter of a result.
func (r running) spans(t *testing.T, result string) float64 {
	t.Helper()
	return fixture.MetricValue(t, r.reg, "vayu_trace_spans_total", "result", result)
}

func named(all []*proto.Span, name string) *proto.Span {
	for _, s := range all {
		if s.GetName() == name {
			return s
		}
	}
	return nil
}

func has(names ...string) func([]*proto.Span) bool {
	return func(all []*proto.Span) bool {
		for _, name := range names {
			if named(all, name) == nil {
				return false
			}
		}
		return true
	}
}

// A step within ten minutes is in the trace of its origin. A later one begins a trace
// with a link.
func TestResumeContinuesOrLinksTrace(t *testing.T) {
	t.Parallel()
	c := tracingtest.New(t)
	r := run(t, tracing.Settings{Endpoint: c.URL, Sample: 1, Headers: config.NewSecret("X-Token = abc=, X-Other=d")})
	ctx, origin := r.Start(t.Context(), "origin", tracing.Server)
	carried := tracing.Traceparent(ctx)
	_, inner := tracing.Start(ctx, "inner", tracing.Internal)
	inner.Set(tracing.Provider, "acme")
	inner.Done(errors.New("the number 9876543210 is barred"))
	origin.End()
	if !tracing.ValidTraceparent(carried) {
		t.Fatalf("carried %q", carried)
	}
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	_, soon := r.Resume(t.Context(), carried, at, at.Add(9*time.Minute), "soon", tracing.Client)
	soon.End()
	_, late := r.Resume(t.Context(), carried, at, at.Add(10*time.Minute), "late", tracing.Client)
	late.End()
	all := c.Wait("all four spans", has("origin", "inner", "soon", "late"))
	first := named(all, "origin")
	for _, name := range []string{"inner", "soon"} {
		s := named(all, name)
		if got := s.GetTraceId(); !bytes.Equal(got, first.GetTraceId()) {
			t.Errorf("%s is in the trace %x, want %x", name, got, first.GetTraceId())
		}
		if got := s.GetParentSpanId(); !bytes.Equal(got, first.GetSpanId()) {
			t.Errorf("%s has the parent %x, want %x", name, got, first.GetSpanId())
		}
	}
	s := named(all, "late")
	if bytes.Equal(s.GetTraceId(), first.GetTraceId()) {
		t.Errorf("late is in the trace of its origin: %v", s)
	}
	if links := s.GetLinks(); len(links) != 1 {
		t.Errorf("late has the links %v, want one", links)
	} else if got := links[0].GetSpanId(); !bytes.Equal(got, first.GetSpanId()) {
		t.Errorf("late has a link to %x, want %x", got, first.GetSpanId())
	}
	in := named(all, "inner")
	if got := in.GetStatus().GetCode(); got != proto.Status_STATUS_CODE_ERROR {
		t.Errorf("inner has the status %v, want %v", got, proto.Status_STATUS_CODE_ERROR)
	}
	if got := tracingtest.Value(in, "vayu.provider"); got != "acme" {
		t.Errorf("inner has the provider %q, want acme", got)
	}
	if strings.Contains(c.Text(), "9876543210") {
		t.Error("the text of an error was sent")
	}
	for name, want := range map[string]string{"X-Token": "abc=", "X-Other": "d"} {
		if got := c.Header().Get(name); got != want {
			t.Errorf("the collector got %s: %q, want %q", name, got, want)
		}
	}
	for _, part := range []string{`"service.name"`, `"vayu"`, `"service.instance.id"`, `"here/1"`} {
		if !strings.Contains(c.Text(), part) {
			t.Errorf("the resource lacks %s", part)
		}
	}
}

// A step has the sampling decision of its origin, in the same trace or by a link.
func TestResumeKeepsSamplingDecision(t *testing.T) {
	t.Parallel()
	c := tracingtest.New(t)
	r := run(t, tracing.Settings{Endpoint: c.URL, Sample: 0})
	ctx, origin := r.Start(t.Context(), "origin", tracing.Server)
	if origin.Recording() {
		t.Error("the origin is sampled")
	}
	if got := tracing.Traceparent(ctx); !strings.HasSuffix(got, "-00") {
		t.Errorf("the traceparent is %q, want an unsampled one", got)
	}
	at := time.Now()
	for _, after := range []time.Duration{0, time.Hour} {
		if _, s := r.Resume(t.Context(), tracing.Traceparent(ctx), at, at.Add(after), "next", tracing.Client); s.Recording() {
			t.Errorf("a step %s after an unsampled trace is sampled", after)
		}
		kept := "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
		if _, s := r.Resume(t.Context(), kept, at, at.Add(after), "next", tracing.Client); !s.Recording() {
			t.Errorf("a step %s after a sampled trace is not sampled", after)
		}
	}
}

// A client decides neither about sampling nor about trace ids.
func TestClientTraceparentIsOnlyLinked(t *testing.T) {
	t.Parallel()
	c := tracingtest.New(t)
	const client = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	request := func() *http.Request {
		req := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
		req.Header.Set("Traceparent", client)
		req.Header.Set("Tracestate", "secret=1")
		return req
	}
	none := run(t, tracing.Settings{Endpoint: c.URL, Sample: 0})
	if _, s := none.Request(request(), "request"); s.Recording() {
		t.Error("a client caused a trace to be sampled")
	}
	all := run(t, tracing.Settings{Endpoint: c.URL, Sample: 1})
	_, s := all.Request(request(), "request")
	s.End()
	got := named(c.Wait("the request", has("request")), "request")
	if strings.Contains(client, hex.EncodeToString(got.GetTraceId())) {
		t.Errorf("the span is in the client's trace: %v", got)
	}
	if parent := got.GetParentSpanId(); len(parent) != 0 {
		t.Errorf("the span has the parent %x", parent)
	}
	if links := got.GetLinks(); len(links) != 1 {
		t.Errorf("got the links %v, want one", links)
	}
	if strings.Contains(c.Text(), "secret") {
		t.Error("the export has the client's tracestate")
	}
	unsampled := request()
	unsampled.Header.Set("Traceparent", strings.TrimSuffix(client, "1")+"0")
	if _, s := all.Request(unsampled, "request"); !s.Recording() {
		t.Error("a client prevented a trace from being sampled")
	}
}

// An unavailable collector costs spans and never blocks. The failure and the recovery
// are logged once each.
func TestUnavailableCollector(t *testing.T) {
	t.Parallel()
	c := tracingtest.New(t)
	c.SetStatus(http.StatusServiceUnavailable)
	r := run(t, tracing.Settings{Endpoint: c.URL, Sample: 1})
	spans := func(n int) {
		for range n {
			_, s := r.Start(t.Context(), "step", tracing.Internal)
			s.End() // must not block
		}
	}
	spans(1)
	fixture.Eventually(t, "the export is retried", func() bool { return c.Requests() >= 2 })
	spans(20_000)
	if got := r.spans(t, "dropped"); got < 10_000 {
		t.Errorf("%v of 20000 spans are counted as dropped with a queue of 4096", got)
	}
	c.SetStatus(http.StatusOK)
	c.Wait("the queued spans", func(all []*proto.Span) bool { return len(all) >= 4096 })
	r.stop()
	if sent, dropped := r.spans(t, "sent"), r.spans(t, "dropped"); sent+dropped != 20_001 {
		t.Errorf("%v spans sent and %v dropped, want 20001 together", sent, dropped)
	}
	for _, text := range []string{"does not answer", "answers again"} {
		if got := r.log.Count(text); got != 1 {
			t.Errorf("the log has %q %d times, want once: %s", text, got, r.log)
		}
	}
}

// Tracing that is off allocates nothing.
func TestNilTracerDoesNotAllocate(t *testing.T) { // AllocsPerRun counts alone
	off, err := tracing.New(tracing.Config{Settings: tracing.DefaultSettings()})
	if err != nil || off != nil {
		t.Fatalf("without an endpoint there is %v, %v", off, err)
	}
	req := httptest.NewRequest(http.MethodGet, "/v1/aqi", http.NoBody)
	ctx := t.Context()
	for name, do := range map[string]func(){
		"request": func() {
			r, s := off.Request(req, "request")
			s.Set(tracing.Route, r.URL.Path)
			s.SetInt(tracing.Status, 200)
			s.End()
		},
		"step": func() { _, s := tracing.Start(ctx, "step", tracing.Internal); s.Done(nil) },
		"resume": func() {
			_, s := off.Resume(ctx, "", time.Time{}, time.Time{}, "step", tracing.Internal)
			s.Fail()
			s.End()
		},
		"carry": func() { _ = tracing.Traceparent(ctx) },
	} {
		if got := testing.AllocsPerRun(100, do); got != 0 {
			t.Errorf("%s allocates %v times", name, got)
		}
	}
}

func TestSettingsAreChecked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		set  tracing.Settings
		want string
	}{
		"default":        {tracing.DefaultSettings(), ""},
		"all":            {tracing.Settings{Endpoint: "https://c.example/v1/traces", Headers: config.NewSecret("a=b, c=d"), Sample: 0.1}, ""},
		"scheme":         {tracing.Settings{Endpoint: "c.example:4317"}, "endpoint"},
		"password":       {tracing.Settings{Endpoint: "http://u:p@c.example"}, "endpoint"},
		"header":         {tracing.Settings{Headers: config.NewSecret("a=b,swordfish")}, "headers"},
		"broken header":  {tracing.Settings{Headers: config.NewSecret("a b=swordfish")}, "headers"},
		"sample":         {tracing.Settings{Sample: 1.1}, "sample"},
		"negative share": {tracing.Settings{Sample: -1}, "sample"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := errors.Join(c.set.Validate()...)
			if (err != nil) != (c.want != "") {
				t.Fatalf("got %v, want %q", err, c.want)
			}
			if got := fmt.Sprint(err); !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if strings.Contains(fmt.Sprint(err), "swordfish") {
				t.Errorf("the error contains a secret: %v", err)
			}
		})
	}
}

// FuzzCarried checks that only texts in the format of Traceparent are valid.
func FuzzCarried(f *testing.F) {
	f.Add("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	f.Add("00-00000000000000000000000000000000-b7ad6b7169203331-01")
	f.Add("ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x")
	f.Fuzz(func(t *testing.T, text string) {
		if tracing.ValidTraceparent(text) && (len(text) != 55 || strings.Trim(text, "0123456789abcdef-") != "") {
			t.Errorf("%q is valid", text)
		}
	})
}
