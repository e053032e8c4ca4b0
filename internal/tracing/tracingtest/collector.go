// Package tracingtest has a collector of traces for tests: it speaks OTLP over HTTP.
package tracingtest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	proto "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/prototext"
	wire "google.golang.org/protobuf/proto"
)

// patience bounds every wait on a busy machine.
const patience = 90 * time.Second

// Collector takes spans.
type Collector struct {
	*httptest.Server

	t       testing.TB
	mu      sync.Mutex
	status  int // of answers
	header  http.Header
	text    []byte // of everything, for searching
	spans   []*proto.Span
	asked   int
	changed chan struct{} // closed and replaced with each request
}

// New starts a collector that ends with the test.
func New(t testing.TB) *Collector {
	t.Helper()
	c := &Collector{t: t, status: http.StatusOK, changed: make(chan struct{})}
	c.Server = httptest.NewServer(http.HandlerFunc(c.take))
	t.Cleanup(c.Close)
	return c
}

// Answer has it answer with a status from now on; it keeps what it takes with 200.
func (c *Collector) Answer(status int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.status = status
}

func (c *Collector) take(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var export collector.ExportTraceServiceRequest
	if err == nil {
		err = wire.Unmarshal(body, &export)
	}
	if err != nil || r.URL.Path != "/v1/traces" {
		c.t.Errorf("%s with %d bytes is no export of spans: %v", r.URL.Path, len(body), err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked++
	c.header = r.Header
	if c.status == http.StatusOK {
		c.text = append(c.text, prototext.Format(&export)...)
		for _, resource := range export.GetResourceSpans() {
			for _, scope := range resource.GetScopeSpans() {
				c.spans = append(c.spans, scope.GetSpans()...)
			}
		}
	}
	close(c.changed)
	c.changed = make(chan struct{})
	w.WriteHeader(c.status)
}

// Wait waits until the spans that have come are enough.
func (c *Collector) Wait(what string, enough func(all []*proto.Span) bool) []*proto.Span {
	c.t.Helper()
	deadline := time.After(patience)
	for {
		c.mu.Lock()
		all, changed := slices.Clip(c.spans), c.changed
		c.mu.Unlock()
		if enough(all) {
			return all
		}
		select {
		case <-changed:
		case <-deadline:
			for _, s := range all {
				c.t.Log(s.GetName())
			}
			c.t.Fatalf("with %d spans there is still not %s", len(all), what)
		}
	}
}

// Asked waits for so many requests, answered in whatever way.
func (c *Collector) Asked(n int) {
	c.t.Helper()
	deadline := time.After(patience)
	for {
		c.mu.Lock()
		asked, changed := c.asked, c.changed
		c.mu.Unlock()
		if asked >= n {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			c.t.Fatalf("%d requests came, want %d", asked, n)
		}
	}
}

// Text is everything that was taken, resources and all, as text.
func (c *Collector) Text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return string(c.text)
}

// Header is that of the last request.
func (c *Collector) Header() http.Header {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.header
}

// Value is a value of a span as text; empty when it has none of that name.
func Value(s *proto.Span, key string) string {
	for _, pair := range s.GetAttributes() {
		if pair.GetKey() == key {
			if text := pair.GetValue().GetStringValue(); text != "" {
				return text
			}
			return pair.GetValue().String()
		}
	}
	return ""
}
