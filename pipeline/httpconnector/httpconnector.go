// Package httpconnector calls a provider with JSON over HTTP, as a description file defines. The
// file holds the URL, the form and signature of requests, and the place of fields in answers.
// The caller defines the meaning of the calls.
//
// A request is sent at most once: nothing is retried, and no redirect is followed. The error
// of a call shows whether the provider can have received it.
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
	"github.com/sony/gobreaker/v2"

	"vayu/pipeline/httpconnector/answer"
	"vayu/pipeline/httpconnector/template"
)

// Options are the dependencies of a Client. The zero value is usable.
type Options struct {
	Log     *slog.Logger          // nil for none
	Metrics prometheus.Registerer // nil for none; several clients may share one
	// Now is the clock of signatures; nil for time.Now.
	Now func() time.Time
	// Dial opens connections; nil for the network.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Client calls a provider. It is safe for concurrent use.
type Client struct {
	d         *Description
	log       *slog.Logger
	metrics   *metrics
	now       func() time.Time
	transport *http.Transport
	main      lane
	separate  lane // for calls with CallShape.Separate
}

// lane is a group of calls with a common limit of concurrency and a common circuit breaker.
type lane struct {
	breaker *gobreaker.CircuitBreaker[answer.Reply]
	slots   chan struct{}
}

// New returns a client, without connecting. It fails if the registerer has another metric with a
// name of this package.
func New(d *Description, o Options) (*Client, error) {
	m, err := newMetrics(o.Metrics)
	if err != nil {
		return nil, err
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Dial == nil {
		o.Dial = new(net.Dialer).DialContext
	}
	c := &Client{d: d, log: o.Log.With("upstream", d.Name), metrics: m, now: o.Now, transport: newTransport(d, o.Dial)}
	c.main, c.separate = c.lane(m.open.WithLabelValues(d.Name, "main")), c.lane(m.open.WithLabelValues(d.Name, "aside"))
	return c, nil
}

// halfOpenCalls is the number of concurrent probe calls of a half-open breaker.
const halfOpenCalls = 1

func (c *Client) lane(opened prometheus.Gauge) lane {
	return lane{slots: make(chan struct{}, c.d.Concurrency), breaker: gobreaker.NewCircuitBreaker[answer.Reply](gobreaker.Settings{
		Name: c.d.Name, MaxRequests: halfOpenCalls, Timeout: c.d.open,
		ReadyToTrip:  func(n gobreaker.Counts) bool { return int(n.ConsecutiveFailures) >= c.d.failures },
		IsSuccessful: isHealthy,
		IsExcluded:   func(err error) bool { return outcomeOf(err) == stopped },
		OnStateChange: func(_ string, _, to gobreaker.State) {
			opened.Set(0)
			if to == gobreaker.StateOpen {
				opened.Set(1)
			}
			c.log.Warn("circuit breaker changed state", "state", to.String())
		},
	})}
}

// Available reports whether a call that is not separate can be made now. It is false while the
// breaker is open, and while the probe of a half-open breaker is in flight.
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

// Call makes a call with its fields, of the types string, int64, bool and schema.Paise. It waits
// for a slot (the right to one concurrent call), and then for the description's Timeout at most.
//
// The error is ErrNotCalled if the breaker prevented the call, and ErrNotSent if nothing reached
// the provider and nothing will. After any other error the provider may have received the
// request. Errors quote no text of the provider except an unmapped value, which clients must
// not see. Call logs an error at debug level only, because the caller logs it.
func (c *Client) Call(ctx context.Context, name string, fields map[string]any) (answer.Reply, error) {
	begun := time.Now()
	reply, err := c.call(ctx, name, fields)
	outcome := outcomeOf(err)
	c.metrics.calls.WithLabelValues(c.d.Name, name, string(outcome)).Inc()
	c.metrics.seconds.WithLabelValues(c.d.Name, name).Observe(time.Since(begun).Seconds())
	if err == nil {
		return reply, nil
	}
	c.log.DebugContext(ctx, "provider call failed", "call", name, "outcome", outcome, "http", reply.HTTP,
		"error", err, "seconds", time.Since(begun).Seconds(), "detail", detailOf(err))
	return reply, fmt.Errorf("calling %q of %q: %w", name, c.d.Name, err)
}

func (c *Client) call(ctx context.Context, name string, fields map[string]any) (answer.Reply, error) {
	spec := c.d.calls[name]
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
		return reply, &Error{Outcome: refused, err: errOpen}
	}
	return reply, err
}

func (c *Client) exchange(parent context.Context, spec *call, fields map[string]any) (answer.Reply, error) {
	ctx, cancel := context.WithTimeout(parent, c.d.Timeout)
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
		return reply, &Error{Outcome: badStatus, HTTP: resp.StatusCode, err: fmt.Errorf("the answer has the HTTP status %d", resp.StatusCode), detail: excerpt(body)}
	case len(body) > spec.maxReply:
		return reply, &Error{Outcome: badAnswer, HTTP: resp.StatusCode, err: fmt.Errorf("the answer is longer than %d bytes", spec.maxReply)}
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
	u, err := url.Parse(c.d.base.String() + path)
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
	return req, c.d.auth.apply(req, body, c.now())
}

// content returns the body of a request, nil for none, and sets the header Content-Type.
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
