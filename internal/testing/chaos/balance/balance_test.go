package balance_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"vayu/internal/testing/chaos/balance"
	"vayu/internal/testing/fixture"
)

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
func between(t *testing.T) (p *balance.Proxy, front string, one, two *backend) {
	t.Helper()
	one, two = newBackend(t, "one"), newBackend(t, "two")
	p = balance.New([]string{"one", "two"}, []string{one.address(), two.address()})
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
	p := balance.New([]string{"one"}, []string{"127.0.0.1:1"})
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	if status, _ := post(t, server.URL, ""); status != http.StatusServiceUnavailable {
		t.Errorf("got %d, want 503", status)
	}
}
