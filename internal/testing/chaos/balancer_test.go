package chaos

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"vayu/internal/sleep"
	"vayu/internal/testing/fixture"
)

// Settings of the proxy, with the values of haproxy.cfg.
const (
	pollEvery      = time.Second
	pollSoon       = 500 * time.Millisecond // while an instance starts
	dialTimeout    = 2 * time.Second
	replyTimeout   = 75 * time.Second
	idleTimeout    = 60 * time.Second
	upAfter        = 2
	maxIdlePerHost = 256
	// maxBody is larger than any body of the API.
	maxBody = 9 << 20
)

// Balancer is a small load balancer in front of equal instances. It behaves as haproxy with
// docs/operations/compose/haproxy.cfg. It polls /readyz of each instance every second. One failure
// marks an instance as down, two successes mark it as up. A request goes to the instance with the
// fewest in flight. It is sent to another instance only if no connection was made, because a sent
// request may have had effects. If a kept-alive connection turns out to be closed, methods that may
// be repeated are retried, as haproxy does.
type Balancer struct {
	instances []*upstream
	client    *http.Transport
	forward   httputil.ReverseProxy
	// Failovers counts requests that went to another instance, because no connection was made.
	Failovers atomic.Int64
}

// upstream is one instance behind the proxy.
type upstream struct {
	name, address string
	inFlight      atomic.Int64
	up            atomic.Bool
}

// newBalancer makes a balancer for instances with names and host:port. All are down until Run has polled them.
func newBalancer(names, addresses []string) *Balancer {
	p := &Balancer{}
	for i, name := range names {
		p.instances = append(p.instances, &upstream{name: name, address: addresses[i]})
	}
	p.client = &http.Transport{
		DialContext: dial, ResponseHeaderTimeout: replyTimeout, IdleConnTimeout: idleTimeout,
		MaxIdleConnsPerHost: maxIdlePerHost, DisableCompression: true,
	}
	p.forward = httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetXForwarded()
			r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = "http", "instance", r.In.Host
		},
		Transport:    p,
		ErrorLog:     log.New(io.Discard, "", 0), // the client counts a failed request
		ErrorHandler: writeError,
	}
	return p
}

func writeError(w http.ResponseWriter, _ *http.Request, err error) {
	status := http.StatusBadGateway
	if errors.Is(err, errNoneReady) {
		status = http.StatusServiceUnavailable
	}
	http.Error(w, err.Error(), status)
}

// dialError means that no connection was made.
type dialError struct{ error }

func (e dialError) Unwrap() error { return e.error }

func dial(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, network, address)
	if err != nil {
		return nil, dialError{err}
	}
	return c, nil
}

var errNoneReady = errors.New("no instance is ready")

// ServeHTTP forwards a request.
func (p *Balancer) ServeHTTP(w http.ResponseWriter, r *http.Request) { p.forward.ServeHTTP(w, r) }

// RoundTrip sends a request to the ready instance with the fewest in flight. It implements
// [http.RoundTripper].
func (p *Balancer) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := readAll(r)
	if err != nil {
		return nil, err
	}
	tried := map[*upstream]bool{}
	err = errNoneReady
	for {
		to := p.choose(tried)
		if to == nil {
			return nil, err
		}
		if len(tried) > 0 {
			p.Failovers.Add(1)
		}
		tried[to] = true
		out := r.Clone(r.Context())
		out.URL = &url.URL{Scheme: "http", Host: to.address, Path: r.URL.Path, RawPath: r.URL.RawPath, RawQuery: r.URL.RawQuery}
		if body != nil {
			out.Body, out.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		}
		to.inFlight.Add(1)
		var reply *http.Response
		if reply, err = p.client.RoundTrip(out); err == nil {
			reply.Body = &countedBody{ReadCloser: reply.Body, of: to}
			return reply, nil
		}
		to.inFlight.Add(-1)
		if _, never := errors.AsType[dialError](err); !never {
			return nil, err
		}
	}
}

// readAll reads a body, so that it can be sent again after a failed connection.
func readAll(r *http.Request) ([]byte, error) {
	if r.Body == nil || r.Body == http.NoBody {
		return nil, nil
	}
	defer func() { _ = r.Body.Close() }()
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxBody))
	if err != nil {
		return nil, fmt.Errorf("reading the request: %w", err)
	}
	return body, nil
}

// choose returns the ready instance with the fewest requests in flight that was not tried yet.
func (p *Balancer) choose(tried map[*upstream]bool) (least *upstream) {
	for _, i := range p.instances {
		if i.up.Load() && !tried[i] && (least == nil || i.inFlight.Load() < least.inFlight.Load()) {
			least = i
		}
	}
	return least
}

// countedBody is a reply's body; the request is in flight until it is closed.
type countedBody struct {
	io.ReadCloser

	of   *upstream
	once sync.Once
}

// Close closes the body. The request is then no longer in flight.
func (c *countedBody) Close() error {
	c.once.Do(func() { c.of.inFlight.Add(-1) })
	return c.ReadCloser.Close()
}

// Ready returns the number of instances that the proxy considers ready.
func (p *Balancer) Ready() (n int) {
	for _, i := range p.instances {
		if i.up.Load() {
			n++
		}
	}
	return n
}

// Run polls the readiness of every instance until ctx ends.
func (p *Balancer) Run(ctx context.Context) {
	defer p.client.CloseIdleConnections()
	var all sync.WaitGroup
	for _, i := range p.instances {
		all.Go(func() { i.watch(ctx) })
	}
	all.Wait()
}

func (i *upstream) watch(ctx context.Context) {
	asking := &http.Client{Timeout: pollEvery, Transport: &http.Transport{DisableKeepAlives: true}}
	yes := 0
	for ctx.Err() == nil {
		every := pollEvery
		switch {
		case !i.ready(ctx, asking):
			yes = 0
			i.up.Store(false)
		case i.up.Load():
		default:
			every = pollSoon
			if yes++; yes >= upAfter {
				i.up.Store(true)
			}
		}
		sleep.For(ctx, every)
	}
}

func (i *upstream) ready(ctx context.Context, client *http.Client) bool {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+i.address+"/readyz", nil)
	if err != nil {
		return false
	}
	reply, err := client.Do(r)
	if err != nil {
		return false
	}
	_ = reply.Body.Close()
	return reply.StatusCode == http.StatusOK
}

// backend is an instance that answers with its name, and reports whether it is ready.
type backend struct {
	*httptest.Server

	ready    atomic.Bool
	broken   atomic.Bool // closes the connection after reading the request
	requests atomic.Int64
}

func newBackend(t *testing.T, name string) *backend {
	t.Helper()
	b := &backend{}
	b.ready.Store(true)
	b.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/readyz" {
			if !b.ready.Load() {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
			return
		}
		b.requests.Add(1)
		body, _ := io.ReadAll(r.Body)
		if b.broken.Load() {
			panic(http.ErrAbortHandler)
		}
		_, _ = io.WriteString(w, name+" "+string(body))
	}))
	t.Cleanup(b.Close)
	return b
}

func (b *backend) address() string { return strings.TrimPrefix(b.URL, "http://") }

// between starts a proxy in front of two ready instances.
func between(t *testing.T) (p *Balancer, front string, one, two *backend) {
	t.Helper()
	one, two = newBackend(t, "one"), newBackend(t, "two")
	p = newBalancer([]string{"one", "two"}, []string{one.address(), two.address()})
	ctx, end := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.Run(ctx)
	}()
	server := httptest.NewServer(p)
	t.Cleanup(func() {
		server.Close()
		end()
		<-done
	})
	fixture.Eventually(t, "both instances are up", func() bool { return p.Ready() == 2 })
	return p, server.URL, one, two
}

func post(t *testing.T, url, body string) (status int, got string) {
	t.Helper()
	client := http.Client{Timeout: time.Minute}
	reply, err := client.Post(url, "text/plain", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reply.Body.Close() }()
	text, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply.StatusCode, string(text)
}

func TestFailoverWithoutConnection(t *testing.T) {
	t.Parallel()
	p, front, one, two := between(t)
	one.Close()
	for range 4 {
		if status, got := post(t, front, "hello"); status != http.StatusOK || got != "two hello" {
			t.Fatalf("got %d %q, want the other instance's answer", status, got)
		}
	}
	if p.Failovers.Load() == 0 || two.requests.Load() != 4 {
		t.Errorf("%d requests failed over, and two got %d", p.Failovers.Load(), two.requests.Load())
	}
}

func TestSentRequestIsNotRetried(t *testing.T) {
	t.Parallel()
	_, front, one, two := between(t)
	one.broken.Store(true)
	two.broken.Store(true)
	if status, _ := post(t, front, "order"); status != http.StatusBadGateway {
		t.Errorf("got %d, want 502", status)
	}
	if requests := one.requests.Load() + two.requests.Load(); requests != 1 {
		t.Errorf("the instances got %d requests, want 1", requests)
	}
}

func TestUnreadyInstanceGetsNoRequests(t *testing.T) {
	t.Parallel()
	p, front, one, _ := between(t)
	one.ready.Store(false)
	fixture.Eventually(t, "one instance is up", func() bool { return p.Ready() == 1 })
	for range 4 {
		if _, got := post(t, front, "hello"); got != "two hello" {
			t.Fatalf("got %q from an instance that is not ready", got)
		}
	}
	one.ready.Store(true)
	fixture.Eventually(t, "both instances are up", func() bool { return p.Ready() == 2 })
}

func TestNoInstanceIsReady(t *testing.T) {
	t.Parallel()
	p := newBalancer([]string{"one"}, []string{"127.0.0.1:1"})
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	if status, _ := post(t, server.URL, ""); status != http.StatusServiceUnavailable {
		t.Errorf("got %d, want 503", status)
	}
}
