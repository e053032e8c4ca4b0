package httpapi_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"vayu/internal/httpapi"
	"vayu/internal/httpapi/httpapitest"
	"vayu/internal/httpapi/server"
)

// An endless stream outlives the time-out of reading a request, and has the headers that proxies
// need.
func TestAnEndlessStreamOutlivesTheTimeForReading(t *testing.T) {
	t.Parallel()
	const reading = 50 * time.Millisecond
	left := false
	routes := []httpapi.Route{{Method: http.MethodGet, Path: "/v1/live", Type: "text/plain", Handler: func(c *httpapi.Call) (httpapi.Response, error) {
		return httpapi.Response{Type: []string{"text/plain"}, Endless: true, Stream: func(out httpapi.Flusher) error {
			for range 3 {
				if _, err := out.Write([]byte("piece\n")); err != nil {
					return err
				}
				if err := out.Flush(); err != nil {
					return err
				}
				select {
				case <-c.Context().Done():
					left = true
					return nil
				case <-time.After(2 * reading):
				}
			}
			return nil
		}}, nil
	}}}
	h, err := httpapi.New(httpapi.Config{Routes: routes, Access: httpapitest.Keys{"live", "sandbox"}})
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		s, raw, done := server.New(h, nil), make(pipes), make(chan struct{})
		s.ReadTimeout = reading
		l := plain(t)(raw)
		go func() {
			defer close(done)
			_ = s.Serve(l) // until it is closed
		}()
		near, far := net.Pipe()
		raw <- far
		defer func() {
			near.Close()
			s.Close()
			<-done
		}()
		if _, err := io.WriteString(near, "GET /v1/live HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer live\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(bufio.NewReader(near), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if got := resp.Header.Get("X-Accel-Buffering"); got != "no" {
			t.Errorf("X-Accel-Buffering is %q", got)
		}
		var pieces int
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			if strings.TrimSpace(lines.Text()) == "piece" {
				pieces++
			}
		}
		if pieces != 3 || left {
			t.Errorf("%d pieces came, want 3; the client has left: %v", pieces, left)
		}
	})
}
