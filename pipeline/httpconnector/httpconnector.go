// Package httpconnector calls a provider with JSON over HTTP, as a description file defines. The file holds the URL,
// the form and signature of requests, and the place of fields in answers. The caller defines the meaning of the calls.
//
// A request is sent at most once: nothing is retried, and no redirect is followed. The error of a call shows whether
// the provider can have received it.
package httpconnector

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/sony/gobreaker/v2"

	"vayu/pipeline/httpconnector/answer"
	"vayu/pipeline/httpconnector/template"
)

// Options are the dependencies of a Client. The zero value is usable.
type Options struct {
	Log     *slog.Logger // nil for none
	Metrics *Metrics     // nil for none
	// Now is the clock of signatures; nil for time.Now.
	Now func() time.Time
	// Dial opens connections; nil for the network.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Client calls a provider. It is safe for concurrent use.
type Client struct {
	*Description

	log       *slog.Logger
	metrics   *Metrics
	now       func() time.Time
	transport *http.Transport
	main      callGroup
	separate  callGroup // for calls with CallShape.Separate
}

// callGroup is a group of calls with a common limit of concurrency and a common circuit breaker.
type callGroup struct {
	breaker *gobreaker.CircuitBreaker[answer.Reply]
	slots   chan struct{}
}

// New returns a client, without connecting.
func New(d *Description, o Options) *Client {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Metrics == nil {
		o.Metrics = NewMetrics(nil)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Dial == nil {
		o.Dial = new(net.Dialer).DialContext
	}
	c := &Client{Description: d, log: o.Log.With("provider", d.Name), metrics: o.Metrics, now: o.Now, transport: newTransport(d, o.Dial)}
	c.main, c.separate = c.newCallGroup("main"), c.newCallGroup("separate")
	return c
}

// halfOpenCalls is the number of concurrent probe calls of a half-open breaker.
const halfOpenCalls = 1

func (c *Client) newCallGroup(name string) callGroup {
	opened := c.metrics.open.WithLabelValues(c.Name, name)
	return callGroup{slots: make(chan struct{}, c.Concurrency), breaker: gobreaker.NewCircuitBreaker[answer.Reply](gobreaker.Settings{
		Name: c.Name, MaxRequests: halfOpenCalls, Timeout: c.open,
		ReadyToTrip:  func(n gobreaker.Counts) bool { return int(n.ConsecutiveFailures) >= c.failures },
		IsSuccessful: isHealthy,
		IsExcluded:   func(err error) bool { return resultOf(err) == stopped },
		OnStateChange: func(_ string, _, to gobreaker.State) {
			opened.Set(0)
			if to == gobreaker.StateOpen {
				opened.Set(1)
			}
			c.log.Warn("circuit breaker changed state", "state", to.String())
		},
	})}
}

// Available reports whether a call can be made now. It ignores separate calls (see CallShape.Separate). Available
// returns false while the breaker is open, and while the probe of a half-open breaker is in flight.
func (c *Client) Available() bool {
	switch c.main.breaker.State() {
	case gobreaker.StateOpen:
		return false
	case gobreaker.StateHalfOpen:
		n := c.main.breaker.Counts()
		return n.Requests-n.TotalExclusions < halfOpenCalls
	default:
		return true
	}
}

// Close closes the idle connections.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// Call makes the call `name` of the description. `fields` has the values for its templates, of the types string, int64,
// bool and schema.Paise. Call waits for a slot (the right to one concurrent call). Then it takes at most c.Timeout.
//
// The error is ErrNotCalled if the breaker prevented the call. It is ErrNotSent if nothing has reached the
// provider and nothing will. After any other error the provider may have received the request. An error can quote
// an unmapped value of the provider, but no other text of the provider, so clients must not see the error. Call logs an
// error at debug level only, because the caller logs it.
func (c *Client) Call(ctx context.Context, name string, fields map[string]any) (answer.Reply, error) {
	begun := time.Now()
	reply, err := c.call(ctx, name, fields)
	outcome := resultOf(err)
	c.metrics.calls.WithLabelValues(c.Name, name, string(outcome)).Inc()
	c.metrics.seconds.WithLabelValues(c.Name, name).Observe(time.Since(begun).Seconds())
	if err == nil {
		return reply, nil
	}
	c.log.DebugContext(ctx, "provider call failed", "call", name, "outcome", outcome, "http", reply.HTTP,
		"error", err, "seconds", time.Since(begun).Seconds(), "detail", detailOf(err))
	return reply, fmt.Errorf("calling %q of %q: %w", name, c.Name, err)
}

func (c *Client) call(ctx context.Context, name string, fields map[string]any) (answer.Reply, error) {
	spec := c.calls[name]
	if spec == nil {
		return answer.Reply{}, notSent(unfit, errNoCall)
	}
	in := &c.main
	if spec.separate {
		in = &c.separate
	}
	select {
	case in.slots <- struct{}{}:
		defer func() { <-in.slots }()
	case <-ctx.Done():
		return answer.Reply{}, notSent(stopped, ctx.Err())
	}
	reply, err := in.breaker.Execute(func() (answer.Reply, error) { return c.exchange(ctx, spec, fields) })
	if errors.Is(err, gobreaker.ErrOpenState) || errors.Is(err, gobreaker.ErrTooManyRequests) {
		return reply, &Error{Result: refused, err: errOpen}
	}
	return reply, err
}

func (c *Client) exchange(parent context.Context, spec *call, fields map[string]any) (answer.Reply, error) {
	ctx, cancel := context.WithTimeout(parent, c.Timeout)
	defer cancel()
	a := &attempt{}
	req, err := c.request(a.trace(ctx), spec, fields)
	if err != nil {
		return answer.Reply{}, notSent(unfit, err)
	}
	resp, err := c.transport.RoundTrip(req)
	if err != nil {
		return answer.Reply{}, failure(parent, ctx, err, a.giveUp())
	}
	defer resp.Body.Close()
	reply := answer.Reply{HTTP: resp.StatusCode}
	body, err := io.ReadAll(io.LimitReader(resp.Body, int64(spec.maxReply)+1))
	if err != nil {
		return reply, failure(parent, ctx, err, true)
	}
	a.release()
	switch {
	case !spec.answer.Accepts(resp.StatusCode):
		return reply, &Error{Result: badStatus, HTTP: resp.StatusCode, err: fmt.Errorf("the answer has the HTTP status %d", resp.StatusCode), detail: excerpt(body)}
	case len(body) > spec.maxReply:
		return reply, &Error{Result: badAnswer, HTTP: resp.StatusCode, err: fmt.Errorf("the answer is longer than %d bytes", spec.maxReply)}
	}
	if reply, err = spec.answer.Read(resp.StatusCode, body); err != nil {
		return answer.Reply{HTTP: reply.HTTP}, answerError(err, resp.StatusCode, body)
	}
	return reply, nil
}

func (c *Client) request(ctx context.Context, spec *call, fields map[string]any) (*http.Request, error) {
	if !spec.isIdentified(fields) {
		return nil, errNoIdentifier
	}
	path, err := spec.path.Render(fields, segment)
	if err != nil {
		return nil, err
	}
	query, err := template.Encode(spec.query, fields)
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(c.base.String() + path)
	if err != nil {
		return nil, errPath
	}
	u.RawQuery = query
	header := http.Header{"Accept": {"application/json"}, "User-Agent": {"Vayu/1"}}
	for _, h := range spec.headers {
		text, err := h.Value.Render(fields, nil)
		if err != nil {
			return nil, err
		}
		header.Set(h.Name, text)
	}
	body, err := spec.content(header, fields)
	if err != nil {
		return nil, err
	}
	req := (&http.Request{Method: spec.method, URL: u, Host: u.Host, Header: header, ProtoMajor: 1, ProtoMinor: 1}).WithContext(ctx)
	if body != nil { // no GetBody: it would let net/http send the request again
		req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}
	return req, c.auth.apply(req, body, c.now())
}

// content returns the body of a request; nil for none. If there is a body, it sets a missing header Content-Type.
func (c *call) content(header http.Header, fields map[string]any) ([]byte, error) {
	if c.body == nil {
		return nil, nil
	}
	kind := "application/json"
	if c.isForm {
		kind = "application/x-www-form-urlencoded"
	}
	if header.Get("Content-Type") == "" {
		header.Set("Content-Type", kind)
	}
	if c.isForm {
		return c.body.Form(fields)
	}
	return c.body.AppendJSON(nil, fields)
}

// segment escapes a field for a path. Dot segments and the empty text are errors.
func segment(text string) (string, error) {
	if text == "" || text == "." || text == ".." {
		return "", errPath
	}
	return url.PathEscape(text), nil
}

// Metrics are the metrics of calls and callbacks. All clients of a process share them.
type Metrics struct {
	calls     *prometheus.CounterVec
	seconds   *prometheus.HistogramVec
	open      *prometheus.GaugeVec
	callbacks *prometheus.CounterVec
}

// NewMetrics returns metrics that are registered with `reg`. If `reg` is nil, they are not registered.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	auto := promauto.With(reg)
	return &Metrics{
		calls: auto.NewCounterVec(prometheus.CounterOpts{
			Name: "vayu_provider_calls_total", Help: "Calls to providers, by outcome.",
		}, []string{"provider", "call", "outcome"}),
		seconds: auto.NewHistogramVec(prometheus.HistogramOpts{
			Name: "vayu_provider_call_seconds", Help: "Duration of calls to providers, including the wait for a slot.",
			Buckets: []float64{.01, .03, .1, .3, 1, 3, 10, 30, 100},
		}, []string{"provider", "call"}),
		open: auto.NewGaugeVec(prometheus.GaugeOpts{
			Name: "vayu_provider_breaker_open", Help: "1 while the circuit breaker of a provider is open, by group of calls (main, separate).",
		}, []string{"provider", "group"}),
		callbacks: auto.NewCounterVec(prometheus.CounterOpts{
			Name: "vayu_provider_callbacks_total", Help: "Callbacks of providers, by outcome.",
		}, []string{"provider", "outcome"}),
	}
}

// release detaches the attempt from its connection after the answer was read. The connection can then be reused.
func (a *attempt) release() {
	a.mu.Lock()
	on := a.conn
	a.mu.Unlock()
	if on != nil {
		on.attempt.CompareAndSwap(a, nil)
	}
}
