// Package balance is a small load balancer in front of equal instances. It behaves as haproxy with
// docs/operations/compose/haproxy.cfg. It polls /readyz of each instance every second. One failure
// marks an instance as down, two successes mark it as up. A request goes to the instance with the
// fewest in flight. It is sent to another instance only if no connection was made, because a sent
// request may have had effects. If a kept-alive connection turns out to be closed, methods that may
// be repeated are retried, as haproxy does.
package balance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"vayu/internal/sleep"
)

// Settings of the proxy, with the values of haproxy.cfg.
const (
	pollEvery      = time.Second
	pollSoon       = 500 * time.Millisecond // while an instance starts
	dialTimeout    = 2 * time.Second
	answerTimeout  = 75 * time.Second
	idleTimeout    = 60 * time.Second
	upAfter        = 2
	maxIdlePerHost = 256
	// maxBody is larger than any body of the API.
	maxBody = 9 << 20
)

// Proxy forwards requests to ready instances.
type Proxy struct {
	instances []*instance
	client    *http.Transport
	forward   httputil.ReverseProxy
	// Failovers counts requests that went to another instance, because no connection was made.
	Failovers atomic.Int64
}

// instance is one instance behind the proxy.
type instance struct {
	name, address string
	inFlight      atomic.Int64
	up            atomic.Bool
}

// New makes a proxy for instances with names and host:port. All are down until Run has polled them.
func New(names, addresses []string) *Proxy {
	p := &Proxy{}
	for i, name := range names {
		p.instances = append(p.instances, &instance{name: name, address: addresses[i]})
	}
	p.client = &http.Transport{
		DialContext: dial, ResponseHeaderTimeout: answerTimeout, IdleConnTimeout: idleTimeout,
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
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) { p.forward.ServeHTTP(w, r) }

// RoundTrip sends a request to the ready instance with the fewest in flight. It implements
// [http.RoundTripper].
func (p *Proxy) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := readAll(r)
	if err != nil {
		return nil, err
	}
	tried := map[*instance]bool{}
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
func (p *Proxy) choose(tried map[*instance]bool) (least *instance) {
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

	of   *instance
	once sync.Once
}

// Close closes the body. The request is then no longer in flight.
func (c *countedBody) Close() error {
	c.once.Do(func() { c.of.inFlight.Add(-1) })
	return c.ReadCloser.Close()
}

// Ready returns the number of instances that the proxy considers ready.
func (p *Proxy) Ready() (n int) {
	for _, i := range p.instances {
		if i.up.Load() {
			n++
		}
	}
	return n
}

// Run polls the readiness of every instance until ctx ends.
func (p *Proxy) Run(ctx context.Context) {
	defer p.client.CloseIdleConnections()
	var all sync.WaitGroup
	for _, i := range p.instances {
		all.Go(func() { i.watch(ctx) })
	}
	all.Wait()
}

func (i *instance) watch(ctx context.Context) {
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

func (i *instance) ready(ctx context.Context, client *http.Client) bool {
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
