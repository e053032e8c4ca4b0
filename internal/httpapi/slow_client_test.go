package httpapi_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"vayu/internal/httpapi/httpapitest"
	"vayu/internal/httpapi/server"
)

// pipes is a listener whose connections are pipes, so that time-outs use a synctest bubble's time.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	c, ok := <-p
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (p pipes) Close() error   { close(p); return nil }
func (p pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

// endure serves one connection to client. It returns the connection's lifetime and the status of
// the first reply, if any.
func endure(t *testing.T, certs *server.Certificates, client func(net.Conn) (status string)) (lived time.Duration, status string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := server.New(testAPI(t, httpapitest.Keys{liveKey, sandboxKey}), nil)
		raw := make(pipes)
		l := plain(t)(raw)
		if certs != nil {
			l = withTLS(t, certs, nil)(raw)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = s.Serve(l)
		}()
		near, far := net.Pipe()
		began := time.Now()
		raw <- far
		status = client(near)
		_, _ = near.Read(make([]byte, 1)) // until the server closes
		lived = time.Since(began)
		near.Close()
		s.Close()
		<-done
	})
	return lived, status
}

// drip writes a byte a second until the peer closes.
func drip(c net.Conn) {
	for {
		if _, err := io.WriteString(c, "x"); err != nil {
			return
		}
		time.Sleep(time.Second)
	}
}

// dripping drips, and reads the reply concurrently.
func dripping(c net.Conn) (status string) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		drip(c)
	}()
	status = reply(c)
	<-ended
	return status
}

func reply(c net.Conn) string {
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return ""
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.Status
}

func TestSlowClientsAreCutOff(t *testing.T) {
	t.Parallel()
	const head = "Host: localhost\r\nAuthorization: Bearer " + liveKey + "\r\nContent-Type: application/json\r\n"
	for name, c := range map[string]struct {
		client func(net.Conn) string
		lives  time.Duration
		status string
	}{
		"sends nothing": {func(net.Conn) string { return "" }, 5 * time.Second, ""},
		"drips its header": {func(c net.Conn) string {
			_, _ = io.WriteString(c, "GET /v1/aqi HTTP/1.1\r\nX: ")
			drip(c)
			return ""
		}, 5 * time.Second, ""},
		"drips its body": {func(c net.Conn) string {
			_, _ = io.WriteString(c, "POST /v1/keys HTTP/1.1\r\n"+head+"Content-Length: 60000\r\n\r\n")
			return dripping(c)
		}, 30 * time.Second, "408 Request Timeout"},
		"drips its chunks": {func(c net.Conn) string {
			_, _ = io.WriteString(c, "POST /v1/keys HTTP/1.1\r\n"+head+"Transfer-Encoding: chunked\r\n\r\nffff\r\n")
			return dripping(c)
		}, 30 * time.Second, "408 Request Timeout"},
		"reads nothing": {func(c net.Conn) string {
			_, _ = io.WriteString(c, "GET /v1/aqi HTTP/1.1\r\n"+head+"\r\n")
			time.Sleep(61 * time.Second)
			return ""
		}, 61 * time.Second, ""},
		"asks once": {func(c net.Conn) string {
			_, _ = io.WriteString(c, "GET /v1/aqi HTTP/1.1\r\n"+head+"\r\n")
			return reply(c)
		}, 120 * time.Second, "200 OK"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lived, status := endure(t, nil, c.client)
			// net/http delays the close by half a second so that its reply arrives. A write in
			// progress adds up to one more.
			if lived < c.lives || lived > c.lives+1500*time.Millisecond || status != c.status {
				t.Errorf("lived %v and got %q, want %v and %q", lived, status, c.lives, c.status)
			}
		})
	}
}

func TestASlowHandshakeIsCutOff(t *testing.T) {
	t.Parallel()
	c := files(t)
	certify(t, c, 1, time.Now().AddDate(1, 0, 0))
	certs, err := c.Open(nil, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	lived, _ := endure(t, certs, func(c net.Conn) string {
		_, _ = io.WriteString(c, "\x16\x03\x01\x02\x00\x01")
		drip(c)
		return ""
	})
	if lived < 5*time.Second || lived > 6*time.Second {
		t.Errorf("lived %v, want 5 s", lived)
	}
}

// TestIdleConnectionsAreCheap: 10,000 connections must stay under 256 MB, so one may cost 25 KiB.
// It has a goroutine's stack and net/http's two buffers of 4 KiB. Both ends count, since both are
// in this process.
func TestIdleConnectionsAreCheap(t *testing.T) { //nolint:paralleltest // it measures memory
	const n, most = 400, 25 << 10
	address := serve(t, testAPI(t, httpapitest.Keys{liveKey, sandboxKey}), plain(t))
	inUse := func() int64 { // signed: memory of earlier tests may be freed meanwhile
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapInuse + m.StackInuse)
	}
	question := "GET /v1/aqi HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer " + liveKey + "\r\nX: " + strings.Repeat("x", 8000) + "\r\n\r\n"
	before := inUse()
	for range n {
		c := dial(t, address)
		t.Cleanup(func() { c.Close() })
		if _, err := io.WriteString(c, question); err != nil {
			t.Fatal(err)
		}
		if got := reply(c); got != "200 OK" {
			t.Fatal(got)
		}
	}
	each := (inUse() - before) / n
	t.Logf("%d bytes for an idle connection, %d MB for 10,000", each, each*10_000>>20)
	if each > most {
		t.Errorf("an idle connection costs %d bytes, at most %d are wanted", each, most)
	}
}
