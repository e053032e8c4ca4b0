package httpapi_test

import (
	"bufio"
	"net"
	"net/http"
	"strings"
	"testing"
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
	gone := make(chan bool, 1)
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
					gone <- true
					return nil
				case <-time.After(2 * reading):
				}
			}
			gone <- false
			return nil
		}}, nil
	}}}
	h, err := httpapi.New(httpapi.Config{Routes: routes, Access: httpapitest.Keys{"live", "sandbox"}})
	if err != nil {
		t.Fatal(err)
	}
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := server.New(h, nil)
	s.ReadTimeout = reading
	go func() { _ = s.Serve(socket) }() // until it is closed
	defer s.Close()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+socket.Addr().String()+"/v1/live", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer live")
	resp, err := http.DefaultClient.Do(r)
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
	if pieces != 3 || <-gone {
		t.Errorf("%d pieces came, want 3", pieces)
	}
}
