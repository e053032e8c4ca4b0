// Package tracingtest has a fake OTLP/HTTP trace collector.
package tracingtest

import (
	"cmp"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	proto "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/prototext"
	wire "google.golang.org/protobuf/proto"

	"vayu/internal/testing/fixture"
)

// Collector is an HTTP server that keeps the spans of the requests that it answers with status 200.
type Collector struct {
	*httptest.Server

	t        testing.TB
	mu       sync.Mutex
	status   int // of replies
	header   http.Header
	text     []byte // text form of the exports that were answered with status 200
	spans    []*proto.Span
	requests int
}

// New starts a collector that ends with the test.
func New(t testing.TB) *Collector {
	t.Helper()
	c := &Collector{t: t, status: http.StatusOK}
	c.Server = httptest.NewServer(http.HandlerFunc(c.handle))
	t.Cleanup(c.Close)
	return c
}

// SetStatus sets the status of later replies.
func (c *Collector) SetStatus(status int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.status = status
}

func (c *Collector) handle(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var export collector.ExportTraceServiceRequest
	if err == nil {
		err = wire.Unmarshal(body, &export)
	}
	if err != nil || r.URL.Path != "/v1/traces" {
		c.t.Errorf("request to %s with %d bytes is not an export of spans: %v", r.URL.Path, len(body), err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests++
	c.header = r.Header
	if c.status == http.StatusOK {
		c.text = append(c.text, prototext.Format(&export)...)
		for _, resource := range export.GetResourceSpans() {
			for _, scope := range resource.GetScopeSpans() {
				c.spans = append(c.spans, scope.GetSpans()...)
			}
		}
	}
	w.WriteHeader(c.status)
}

// Wait waits until the function `enough` returns true for the spans kept so far, and returns these spans. If Wait times
// out, it fails the test with a message that contains `what`.
func (c *Collector) Wait(what string, enough func(all []*proto.Span) bool) (all []*proto.Span) {
	c.t.Helper()
	fixture.Eventually(c.t, what, func() bool {
		all = slices.Clip(locked(c, &c.spans))
		return enough(all)
	})
	return all
}

// Requests returns the number of requests, with any status.
func (c *Collector) Requests() int { return locked(c, &c.requests) }

// Text returns all exports that were answered with status 200, with their resources, as text.
func (c *Collector) Text() string { return string(locked(c, &c.text)) }

// Header returns the header of the last request.
func (c *Collector) Header() http.Header { return locked(c, &c.header) }

func locked[T any](c *Collector, field *T) T {
	c.mu.Lock()
	defer c.mu.Unlock()
	return *field
}

// Value returns an attribute of a span as text, or "" if the span does not have it.
func Value(s *proto.Span, key string) string {
	for _, pair := range s.GetAttributes() {
		if pair.GetKey() == key {
			return cmp.Or(pair.GetValue().GetStringValue(), pair.GetValue().String())
		}
	}
	return ""
}
