package httpconnector

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/testing/fixture"
)

// A request may be sent again only if the provider cannot have received it.
func TestErrorShowsWhetherRequestWasSent(t *testing.T) {
	t.Parallel()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	answer := func(text string) func(*rawServer, int, net.Conn, *bufio.Reader) {
		return func(w *rawServer, _ int, conn net.Conn, in *bufio.Reader) {
			if w.next(in) {
				_, _ = io.WriteString(conn, text)
			}
		}
	}
	for name, c := range map[string]struct {
		url     string
		serve   func(*rawServer, int, net.Conn, *bufio.Reader)
		sent    bool
		outcome string
	}{
		"refused": {url: "http://" + closed.Addr().String(), outcome: "not_connected"},
		"no TLS":  {url: "https", serve: answer("HTTP/1.1 400 Bad Request\r\n\r\n"), outcome: "not_connected"},
		"a silent TLS": {url: "https", serve: func(w *rawServer, _ int, _ net.Conn, in *bufio.Reader) {
			_, _ = in.Peek(1)
			w.expire()
			_, _ = io.Copy(io.Discard, in)
		}, outcome: "timeout"},
		"closed at once":   {serve: func(_ *rawServer, _ int, conn net.Conn, in *bufio.Reader) { _, _ = in.Peek(1); reset(conn) }, sent: true, outcome: "broken_off"},
		"closed unread":    {serve: answer(""), sent: true, outcome: "broken_off"},
		"reset":            {serve: func(w *rawServer, _ int, conn net.Conn, in *bufio.Reader) { w.next(in); reset(conn) }, sent: true, outcome: "broken_off"},
		"silence":          {serve: func(w *rawServer, _ int, _ net.Conn, in *bufio.Reader) { w.next(in); w.expire(); w.next(in) }, sent: true, outcome: "timeout"},
		"no HTTP":          {serve: answer("220 smtp.example ESMTP secret-word\r\n"), sent: true, outcome: "broken_off"},
		"half an answer":   {serve: answer(done[:len(done)-3]), sent: true, outcome: "broken_off"},
		"a page":           {serve: answer("HTTP/1.0 200 OK\r\n\r\n<html>secret-word</html>"), sent: true, outcome: "not_understood"},
		"an error":         {serve: answer("HTTP/1.0 500 secret-word\r\n\r\n"), sent: true, outcome: "http_status"},
		"a redirection":    {serve: answer("HTTP/1.0 307 X\r\nLocation: /orders\r\n\r\n"), sent: true, outcome: "http_status"},
		"a switch":         {serve: answer("HTTP/1.1 101 X\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"), sent: true, outcome: "http_status"},
		"a strange word":   {serve: answer("HTTP/1.0 200 OK\r\n\r\n{\"status\":\"secret-word\"}"), sent: true, outcome: "not_mapped"},
		"an endless body":  {serve: answer("HTTP/1.0 200 OK\r\n\r\n" + strings.Repeat(" ", defaultReply) + `{"status":"done"}`), sent: true, outcome: "not_understood"},
		"an endless head":  {serve: answer("HTTP/1.0 200 OK\r\nX: " + strings.Repeat("x", 2*maxHeader)), sent: true, outcome: "broken_off"},
		"compressed":       {serve: answer("HTTP/1.0 200 OK\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8b\x08secret-word"), sent: true, outcome: "not_understood"},
		"hints for ever":   {serve: answer(strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 10_000)), sent: true, outcome: "broken_off"},
		"a trickle":        {serve: trickle, sent: true, outcome: "timeout"},
		"no more than due": {serve: answer(done + "HTTP/1.1 200 OK\r\n"), sent: true, outcome: "ok"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var w *rawServer
			if c.serve != nil {
				w = startRawServer(t, c.serve)
				if c.url == "" {
					c.url = w.url()
				} else {
					c.url = strings.Replace(w.url(), "http:", "https:", 1)
				}
			}
			var out fixture.Log
			reg := prometheus.NewRegistry()
			client := open(t, simple, c.url, Options{Metrics: NewMetrics(reg), Log: slog.New(slog.NewTextHandler(&out, nil))})
			ctx := t.Context()
			if w != nil {
				ctx = manualDeadline{ctx, w.late}
			}
			_, err := client.Call(ctx, "order", values)
			if (err == nil) != (c.outcome == "ok") || err != nil && errors.Is(err, ErrNotSent) == c.sent {
				t.Errorf("got %v, want it to be sent: %v", err, c.sent)
			}
			if fixture.MetricValue(t, reg, "vayu_provider_calls_total", "call", "order", "outcome", c.outcome, "provider", "shop") != 1 {
				t.Errorf("it is not counted as %s: %v", c.outcome, err)
			}
			if w != nil && c.sent && w.count() > 1 {
				t.Errorf("it was sent %d times", w.count())
			}
			if text := out.String(); text != "" {
				t.Errorf("the log says what the caller is about to say: %s", text)
			}
			if got, want := strings.Contains(errorText(err), "secret-word"), c.outcome == "not_mapped"; got != want {
				t.Errorf("got %v, want a word of the provider in it: %v", err, want)
			}
		})
	}
}

func TestUnknownHostIsNotSent(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewRegistry()
	client := open(t, simple, "https://shop.example", Options{Metrics: NewMetrics(reg), Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.DNSError{Err: "no such host", Name: "shop.example", IsNotFound: true}
	}})
	if _, err := client.Call(t.Context(), "order", values); !errors.Is(err, ErrNotSent) || !strings.Contains(err.Error(), "name of the host") {
		t.Errorf("got %v", err)
	}
	if fixture.MetricValue(t, reg, "vayu_provider_calls_total", "call", "order", "outcome", "not_connected", "provider", "shop") != 1 {
		t.Error("it is not counted")
	}
}

func trickle(w *rawServer, _ int, conn net.Conn, in *bufio.Reader) {
	w.next(in)
	_, _ = io.WriteString(conn, "HTTP/1.0 200 OK\r\n\r\n{")
	w.expire()
	_, _ = io.Copy(io.Discard, in) // until the other side has had enough
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// net/http repeats a GET, and requests with an Idempotency-Key, if a reused connection is
// dead. A provider that accepted the order before it died would receive it twice.
func TestDeadConnectionIsNotRetried(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"a POST":                simple,
		"a GET":                 strings.Replace(simple, "path: /orders\n    body: {ref: \"{reference}\", amount: \"{amount}\"}", "path: /orders\n    method: GET", 1),
		"with Idempotency-Key":  strings.Replace(simple, "path: /orders\n", "path: /orders\n    headers: {Idempotency-Key: \"{reference}\"}\n", 1),
		"a DELETE without body": strings.Replace(simple, "path: /orders\n    body: {ref: \"{reference}\", amount: \"{amount}\"}", "path: /orders\n    method: DELETE", 1),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, die := range []func(net.Conn){reset, func(conn net.Conn) { conn.Close() }} {
				w := startRawServer(t, func(w *rawServer, _ int, conn net.Conn, in *bufio.Reader) {
					if w.next(in) {
						_, _ = io.WriteString(conn, done)
					}
					if w.next(in) { // on the same connection
						die(conn)
					}
				})
				client := open(t, text, w.url(), Options{})
				if _, err := client.Call(t.Context(), "order", values); err != nil {
					t.Fatal(err)
				}
				if _, err := client.Call(t.Context(), "order", values); err == nil || errors.Is(err, ErrNotSent) {
					t.Errorf("got %v, want an error that leaves it open", err)
				}
				if w.count() != 2 {
					t.Errorf("%d requests for two orders", w.count())
				}
			}
		})
	}
}

// A request that was not written on one connection may use another. Otherwise it was not sent.
func TestClosedIdleConnectionIsReplaced(t *testing.T) {
	t.Parallel()
	w := startRawServer(t, func(w *rawServer, _ int, conn net.Conn, in *bufio.Reader) {
		for w.next(in) {
			_, _ = io.WriteString(conn, done)
		}
	})
	var dialed []*brokenConn
	var mu sync.Mutex
	client := open(t, simple, w.url(), Options{Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		mu.Lock()
		defer mu.Unlock()
		dialed = append(dialed, &brokenConn{Conn: conn})
		return dialed[len(dialed)-1], err
	}})
	if _, err := client.Call(t.Context(), "order", values); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	dialed[0].mu.Lock()
	dialed[0].dead = true
	dialed[0].mu.Unlock()
	mu.Unlock()
	if _, err := client.Call(t.Context(), "order", values); !errors.Is(err, ErrNotSent) {
		t.Errorf("got %v, want %v", err, ErrNotSent)
	}
	if w.count() != 1 {
		t.Errorf("%d requests came through", w.count())
	}
	if _, err := client.Call(t.Context(), "order", values); err != nil {
		t.Errorf("the next one: %v", err)
	}
}

// brokenConn is a connection whose writes fail once it is dead.
type brokenConn struct {
	net.Conn
	mu   sync.Mutex
	dead bool
}

func (b *brokenConn) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.dead {
		return 0, net.ErrClosed
	}
	return b.Conn.Write(p)
}

// Unsolicited bytes must not be taken for the answer to the next order.
func TestUnsolicitedAnswerIsNotRead(t *testing.T) {
	t.Parallel()
	first, gone := make(chan struct{}), make(chan struct{})
	w := startRawServer(t, func(w *rawServer, number int, conn net.Conn, in *bufio.Reader) {
		for w.next(in) {
			if number > 0 {
				_, _ = io.WriteString(conn, strings.Replace(done, "done", "nope", 1))
				continue
			}
			_, _ = io.WriteString(conn, done)
			<-first
			_, _ = io.WriteString(conn, done)
			_, _ = io.Copy(io.Discard, in) // until the other side has hung up
			close(gone)
		}
	})
	client := open(t, simple, w.url(), Options{})
	if _, err := client.Call(t.Context(), "order", values); err != nil {
		t.Fatal(err)
	}
	close(first)
	<-gone
	if reply, err := client.Call(t.Context(), "order", values); err == nil {
		t.Errorf("an order was answered with %v", reply.Fields)
	}
	if got := w.count(); got != 2 {
		t.Errorf("%d requests, want 2", got)
	}
}

func TestWaitForSlotSendsNothing(t *testing.T) {
	t.Parallel()
	arrived, leave := make(chan struct{}), make(chan struct{})
	w := startRawServer(t, func(w *rawServer, _ int, conn net.Conn, in *bufio.Reader) {
		for w.next(in) {
			arrived <- struct{}{}
			<-leave
			_, _ = io.WriteString(conn, done)
		}
	})
	client := open(t, simple+"concurrency: 1", w.url(), Options{})
	var all sync.WaitGroup
	all.Go(func() {
		if _, err := client.Call(t.Context(), "order", values); err != nil {
			t.Error(err)
		}
	})
	<-arrived
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := client.Call(ctx, "order", values); !errors.Is(err, ErrNotSent) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	close(leave)
	all.Wait()
	if w.count() != 1 {
		t.Errorf("%d requests", w.count())
	}
}
