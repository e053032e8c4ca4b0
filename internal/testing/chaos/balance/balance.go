// Package balance is a small proxy in front of instances that answer the same. It does
// what docs/operations/compose/haproxy.cfg has haproxy do: it asks each instance every
// second at /readyz, believes the first no and the second yes, sends a request to the
// one with the fewest under way, and tries another instance only when a connection was
// never made, because what has been sent may have been done. A kept connection that
// turns out to be closed before it was used is replaced, for methods that may be
// repeated, as haproxy does too.
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

// Times of the proxy; those of haproxy.cfg.
const (
	askEvery    = time.Second
	askSoon     = 500 * time.Millisecond // while an instance is on its way up
	dialMost    = 2 * time.Second
	answerMost  = 75 * time.Second
	keepMost    = 60 * time.Second
	yesInARow   = 2
	keptPerHost = 256
	// bodyMost is larger than any body of the API.
	bodyMost = 9 << 20
)

// Proxy sends requests to instances that are ready.
type Proxy struct {
	instances []*instance
	client    *http.Transport
	forward   httputil.ReverseProxy
	// Elsewhere counts requests that went to another instance, because a connection was
	// not made.
	Elsewhere atomic.Int64
}

// instance is one of those behind.
type instance struct {
	name, address string
	under         atomic.Int64
	up            atomic.Bool
}

// New is for instances by their name and host:port; none is up before Run has asked.
func New(names, addresses []string) *Proxy {
	p := &Proxy{}
	for i, name := range names {
		p.instances = append(p.instances, &instance{name: name, address: addresses[i]})
	}
	p.client = &http.Transport{
		DialContext: dial, ResponseHeaderTimeout: answerMost, IdleConnTimeout: keepMost,
		MaxIdleConnsPerHost: keptPerHost, DisableCompression: true,
	}
	p.forward = httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetXForwarded()
			r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = "http", "instance", r.In.Host
		},
		Transport:    p,
		ErrorLog:     log.New(io.Discard, "", 0), // a request that failed is counted by whoever asked
		ErrorHandler: refuse,
	}
	return p
}

func refuse(w http.ResponseWriter, _ *http.Request, err error) {
	status := http.StatusBadGateway
	if errors.Is(err, errNobody) {
		status = http.StatusServiceUnavailable
	}
	http.Error(w, err.Error(), status)
}

// dialError says that a connection was never made.
type dialError struct{ error }

func (e dialError) Unwrap() error { return e.error }

func dial(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := (&net.Dialer{Timeout: dialMost}).DialContext(ctx, network, address)
	if err != nil {
		return nil, dialError{err}
	}
	return c, nil
}

var errNobody = errors.New("no instance is ready")

// ServeHTTP sends a request on.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) { p.forward.ServeHTTP(w, r) }

// RoundTrip implements [http.RoundTripper] with whichever instance has the least to do.
func (p *Proxy) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := whole(r)
	if err != nil {
		return nil, err
	}
	tried := map[*instance]bool{}
	err = errNobody
	for {
		to := p.choose(tried)
		if to == nil {
			return nil, err
		}
		if len(tried) > 0 {
			p.Elsewhere.Add(1)
		}
		tried[to] = true
		out := r.Clone(r.Context())
		out.URL = &url.URL{Scheme: "http", Host: to.address, Path: r.URL.Path, RawPath: r.URL.RawPath, RawQuery: r.URL.RawQuery}
		if body != nil {
			out.Body, out.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		}
		to.under.Add(1)
		var reply *http.Response
		if reply, err = p.client.RoundTrip(out); err == nil {
			reply.Body = &counted{ReadCloser: reply.Body, of: to}
			return reply, nil
		}
		to.under.Add(-1)
		if _, never := errors.AsType[dialError](err); !never {
			return nil, err
		}
	}
}

// whole reads a body, so that it can be sent again when nobody had it.
func whole(r *http.Request) ([]byte, error) {
	if r.Body == nil || r.Body == http.NoBody {
		return nil, nil
	}
	defer func() { _ = r.Body.Close() }()
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, bodyMost))
	if err != nil {
		return nil, fmt.Errorf("reading the request: %w", err)
	}
	return body, nil
}

// choose is the ready instance with the least under way that was not tried yet.
func (p *Proxy) choose(tried map[*instance]bool) (least *instance) {
	for _, i := range p.instances {
		if i.up.Load() && !tried[i] && (least == nil || i.under.Load() < least.under.Load()) {
			least = i
		}
	}
	return least
}

// counted is a reply's body, until the end of which a request is under way.
type counted struct {
	io.ReadCloser

	of   *instance
	once sync.Once
}

// Close implements io.Closer.
func (c *counted) Close() error {
	c.once.Do(func() { c.of.under.Add(-1) })
	return c.ReadCloser.Close()
}

// Up is how many instances are ready, as far as the proxy knows.
func (p *Proxy) Up() (n int) {
	for _, i := range p.instances {
		if i.up.Load() {
			n++
		}
	}
	return n
}

// Run asks every instance whether it is ready, until ctx ends.
func (p *Proxy) Run(ctx context.Context) {
	defer p.client.CloseIdleConnections()
	var all sync.WaitGroup
	for _, i := range p.instances {
		all.Go(func() { i.watch(ctx) })
	}
	all.Wait()
}

func (i *instance) watch(ctx context.Context) {
	asking := &http.Client{Timeout: askEvery, Transport: &http.Transport{DisableKeepAlives: true}}
	yes := 0
	for ctx.Err() == nil {
		every := askEvery
		switch {
		case !i.ready(ctx, asking):
			yes = 0
			i.up.Store(false)
		case i.up.Load():
		default:
			every = askSoon
			if yes++; yes >= yesInARow {
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
