//go:build integration

package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A hostile account does not affect others.
func TestIntegrationOneTenantCannotHurtAnother(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	if out, err := vayu(t, data, "import", writeReadings(t, 1)); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	free := newKey(t, data, "live", "--account", "small", "--plan", "free", "--scopes", "all")
	s := serve(t, data, "--internal-listen", "127.0.0.1:0")
	s.eventually(s.sandbox, aqi("Delhi"), ok)
	listener, err := url.Parse(s.address)
	if err != nil {
		t.Fatal(err)
	}

	t.Run("a quota of 1,000 calls is not exceeded by parallel bulk questions", func(t *testing.T) {
		var answered atomic.Int64
		var all sync.WaitGroup
		path := "/v1/aqi?date=2021-06-01&cities=Pune" + strings.Repeat(",Pune", 99)
		for range 20 {
			all.Go(func() {
				if r, err := s.try(http.MethodGet, free, path, ""); err != nil || (!ok(r) && r.code() != "quota_exceeded") {
					t.Errorf("asking: %v %d %s", err, r.status, r.raw)
				} else if ok(r) {
					answered.Add(1)
				}
			})
		}
		all.Wait()
		if n := answered.Load(); n != 10 {
			t.Errorf("%d questions of 100 calls each were answered, want 10", n)
		}
	})
	t.Run("the sandbox has 20 webhooks", func(t *testing.T) {
		for n := range 21 {
			r := s.send(http.MethodPost, s.sandbox, "/v1/webhooks", fmt.Sprintf(`{"url":"https://hooks.example.com/%d","events":["payment.succeeded"]}`, n))
			if want := n < 20; (r.status == http.StatusCreated) != want {
				t.Errorf("webhook %d: %d %s", n+1, r.status, r.raw)
			}
		}
	})
	t.Run("events need the read scope of their subject", func(t *testing.T) {
		if r := s.send(http.MethodPost, s.sandbox, "/v1/wallet/topups", `{"amount":100,"method":"upi","ref_id":"mine"}`); r.status >= http.StatusBadRequest {
			t.Fatalf("topping up: %d %s", r.status, r.raw)
		}
		s.eventually(s.sandbox, "/v1/events", func(r reply) bool { return strings.Contains(r.raw, `"payment.succeeded"`) })
		r := s.send(http.MethodPost, s.sandbox, "/v1/recharge", `{"mobile":"9000000001","operator":"auto","amount":10,"type":"prepaid","ref_id":"own"}`)
		if r.status >= http.StatusBadRequest {
			t.Fatalf("ordering: %d %s", r.status, r.raw)
		}
		s.eventually(s.sandbox, "/v1/events", func(r reply) bool { return strings.Contains(r.raw, `"recharge.`) })
		narrow := s.send(http.MethodPost, s.sandbox, "/v1/keys", `{"name":"hooks","scopes":["webhooks:manage"]}`)
		if r := s.get(narrow.text("key"), "/v1/events"); r.status != http.StatusOK || strings.Contains(r.raw, "recharge.") {
			t.Errorf("a key with webhooks:manage alone reads %d %s", r.status, r.raw)
		}
	})
	t.Run("a minus sign is no part of a number", func(t *testing.T) {
		r := s.send(http.MethodPost, s.sandbox, "/v1/recharge", `{"mobile":"-9812345678","operator":"auto","amount":10,"type":"prepaid","ref_id":"minus"}`)
		if r.status != http.StatusBadRequest && r.status != http.StatusUnprocessableEntity {
			t.Errorf("it is answered with %d %s", r.status, r.raw)
		}
	})
	t.Run("a cache keeps the replies of two keys apart", func(t *testing.T) {
		if r := s.get(s.sandbox, aqi("Delhi")); !strings.Contains(strings.Join(r.header.Values("Vary"), ","), "Authorization") {
			t.Errorf("Vary is %q", r.header.Values("Vary"))
		}
	})
	t.Run("metrics and profiles are not public", func(t *testing.T) {
		for _, path := range []string{"/metrics", "/debug/pprof/"} {
			if r := sendRaw(t, listener.Host, "GET "+path+" HTTP/1.1\r\nHost: vayu\r\nConnection: close\r\n\r\n"); !strings.HasPrefix(r, "HTTP/1.1 404") {
				t.Errorf("%s is answered with %.60q", path, r)
			}
		}
	})
	t.Run("a request with two lengths closes its connection", func(t *testing.T) {
		r := sendRaw(t, listener.Host, "POST /v1/keys HTTP/1.1\r\nHost: vayu\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /readyz HTTP/1.1\r\nHost: vayu\r\n\r\n")
		if n := strings.Count(r, "HTTP/1.1 "); n != 1 {
			t.Errorf("%d replies came: %q", n, r)
		}
	})
	t.Run("idle connections of one address leave room for others", func(t *testing.T) {
		const most = 256
		if open := openIdle(t, listener.Host, 400, most); open > most {
			t.Errorf("%d connections of one address are open", open)
		}
		if r := s.get(s.sandbox, aqi("Delhi")); r.status != http.StatusOK {
			t.Errorf("beside them: %d %s", r.status, r.raw)
		}
	})
}

// sendRaw sends text over a new connection, and returns the reply.
func sendRaw(t *testing.T, address, text string) string {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	var reply bytes.Buffer
	if _, err := io.Copy(&reply, bufio.NewReader(conn)); err != nil && reply.Len() == 0 {
		t.Fatal(err)
	}
	return reply.String()
}

// openIdle opens idle connections, and returns how many the service keeps open. It
// waits until these are at most most, or until patience ends.
func openIdle(t *testing.T, address string, n, most int) int {
	t.Helper()
	open := map[net.Conn]bool{}
	for range n {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		open[conn] = true
	}
	for until := time.Now().Add(patience); len(open) > most && time.Now().Before(until); {
		for conn := range open {
			if err := conn.SetReadDeadline(time.Now().Add(10 * time.Millisecond)); err != nil {
				t.Fatal(err)
			}
			if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
				delete(open, conn)
			}
		}
	}
	return len(open)
}
