package httpconnector

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/testing/fixture"
)

// A failing provider receives nothing but an occasional probe.
func TestBreakerOpensAndProbes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var well atomic.Bool
		var came atomic.Int32
		dial := func(context.Context, string, string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			go func() {
				defer theirs.Close()
				r, err := http.ReadRequest(bufio.NewReader(theirs))
				if err != nil {
					return
				}
				_, _ = io.Copy(io.Discard, r.Body)
				came.Add(1)
				if well.Load() {
					_, _ = io.WriteString(theirs, "HTTP/1.0 200 OK\r\n\r\n{\"status\":\"done\"}")
				} else {
					_, _ = io.WriteString(theirs, "HTTP/1.0 503 X\r\n\r\n")
				}
			}()
			return ours, nil
		}
		reg := prometheus.NewRegistry()
		client := open(t, simple+"breaker: {failures: 3, open: 10s}", "http://127.0.0.1:1", Options{Dial: dial, Metrics: NewMetrics(reg)})
		order := func() error {
			_, err := client.Call(t.Context(), "order", values)
			return err
		}
		for range 3 {
			if err := order(); err == nil || errors.Is(err, ErrNotSent) {
				t.Fatalf("got error %v, want one of a request that was sent", err)
			}
			if n := came.Load(); !client.Available() && n < 3 {
				t.Fatalf("the breaker is open after %d requests, want 3", n)
			}
		}
		switch err := order(); {
		case !errors.Is(err, ErrNotCalled):
			t.Errorf("open: got error %v, want %v", err, ErrNotCalled)
		case errors.Is(err, ErrNotSent):
			t.Error("open: errors.Is(err, ErrNotSent) is true")
		case came.Load() != 3:
			t.Errorf("open: came.Load() = %v, want 3", came.Load())
		case client.Available():
			t.Error("open: client.Available() is true")
		}
		if got := fixture.MetricValue(t, reg, "vayu_provider_breaker_open", "group", "main", "provider", "shop"); got != 1 {
			t.Errorf("the metric of open breakers is %v, want 1", got)
		}
		if got := fixture.MetricValue(t, reg, "vayu_provider_calls_total", "call", "order", "outcome", "breaker_open", "provider", "shop"); got != 1 {
			t.Errorf("the metric counts %v calls blocked by the breaker, want 1", got)
		}
		time.Sleep(10*time.Second + time.Millisecond)
		if !client.Available() {
			t.Error("no probe is allowed after the pause")
		}
		switch err := order(); {
		case err == nil:
			t.Error("half open: got no error")
		case errors.Is(err, ErrNotSent):
			t.Error("half open: errors.Is(err, ErrNotSent) is true")
		case errors.Is(err, ErrNotCalled):
			t.Error("half open: errors.Is(err, ErrNotCalled) is true")
		case came.Load() != 4:
			t.Errorf("half open: came.Load() = %v, want 4", came.Load())
		case client.Available():
			t.Error("half open: client.Available() is true")
		}
		time.Sleep(10*time.Second + time.Millisecond)
		well.Store(true)
		if err := order(); err != nil {
			t.Errorf("well again: %v", err)
		}
		if !client.Available() {
			t.Error("well again: client.Available() is false")
		}
		if fixture.MetricValue(t, reg, "vayu_provider_breaker_open", "group", "main", "provider", "shop") != 0 {
			t.Error("the metric still shows an open breaker")
		}
	})
}

// During a probe other calls are not attempted, and not lost.
func TestHalfOpenBreakerProbesOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done() // no answer
			return nil, ctx.Err()
		}
		client := open(t, simple+"breaker: {failures: 1, open: 10s}", "http://127.0.0.1:1", Options{Dial: dial})
		call := func(ctx context.Context) <-chan error {
			ended := make(chan error, 1)
			go func() {
				_, err := client.Call(ctx, "order", values)
				ended <- err
			}()
			synctest.Wait()
			return ended
		}
		if err := <-call(t.Context()); !errors.Is(err, ErrNotSent) {
			t.Fatalf("got %v", err)
		}
		time.Sleep(10*time.Second + time.Millisecond)
		for range 2 { // the first is given up, and has found out nothing
			ctx, cancel := context.WithCancel(t.Context())
			if !client.Available() {
				t.Error("no call may probe")
			}
			tried := call(ctx)
			if client.Available() {
				t.Error("other calls may probe concurrently")
			}
			if err := <-call(t.Context()); !errors.Is(err, ErrNotCalled) || errors.Is(err, ErrNotSent) {
				t.Errorf("beside the one that tries: %v", err)
			}
			cancel()
			if err := <-tried; !errors.Is(err, context.Canceled) || errors.Is(err, ErrNotCalled) {
				t.Errorf("the one that tries: %v", err)
			}
		}
	})
}

// A failing list does not block orders.
func TestSeparateLaneKeepsMainBreakerClosed(t *testing.T) {
	t.Parallel()
	url := replyServer(t, 500, "")
	client := open(t, simple+"breaker: {failures: 1}", url, Options{})
	for _, want := range []bool{false, true} {
		if _, err := client.Call(t.Context(), "list", nil); errors.Is(err, ErrNotCalled) != want {
			t.Errorf("got %v, want it to be refused: %v", err, want)
		}
	}
	if _, err := client.Call(t.Context(), "order", values); errors.Is(err, ErrNotCalled) {
		t.Errorf("the breaker blocks the order: %v", err)
	}
	if client.Available() {
		t.Error("client.Available() is true after the failed order")
	}
}

// A refusal is an answer: five wrong numbers do not open the breaker.
func TestRefusalsDoNotOpenTheBreaker(t *testing.T) {
	t.Parallel()
	client := open(t, simple+"breaker: {failures: 1}", replyServer(t, 400, `{"error":"number"}`), Options{})
	strange := open(t, simple+"breaker: {failures: 1}", replyServer(t, 200, `{"status":"strange"}`), Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _ = client.Call(ctx, "order", values)
	for range 3 {
		_, err1 := client.Call(t.Context(), "order", values)
		_, err2 := strange.Call(t.Context(), "order", values)
		switch {
		case errors.Is(err1, ErrNotCalled):
			t.Error("errors.Is(err1, ErrNotCalled) is true")
		case errors.Is(err2, ErrNotCalled):
			t.Error("errors.Is(err2, ErrNotCalled) is true")
		case err1 == nil:
			t.Error("err1 is nil")
		case err2 == nil:
			t.Error("err2 is nil")
		}
	}
	switch {
	case !client.Available():
		t.Error("the breaker is open: client.Available() is false")
	case !strange.Available():
		t.Error("the breaker is open: strange.Available() is false")
	}
}
