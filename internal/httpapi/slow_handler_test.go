package httpapi_test

import (
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"vayu/internal/httpapi"
	"vayu/internal/httpapi/httpapitest"
	"vayu/internal/httpapi/server"
)

// A client may wait for longer than the time-out of its request. A handler learns of a disconnect
// only when it happens.
func TestAHandlerMayTakeLongerThanReading(t *testing.T) {
	t.Parallel()
	const head = "Host: localhost\r\nAuthorization: Bearer " + liveKey + "\r\n"
	const body = "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
	for name, request := range map[string]string{
		"with a body":    "POST /v1/slow HTTP/1.1\r\n" + head + body,
		"without a body": "POST /v1/slow HTTP/1.1\r\n" + head + "Content-Length: 0\r\n\r\n",
		"a stream":       "GET /v1/slow HTTP/1.1\r\n" + head + "\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				near, gone := slowly(t)
				if _, err := io.WriteString(near, request); err != nil {
					t.Error(err)
				}
				if got := reply(near); got != "200 OK" {
					t.Errorf("got %q", got)
				}
				if err := <-gone; err != nil {
					t.Errorf("the client has gone: %v", err)
				}
				if _, err := io.WriteString(near, request); err != nil { // on the same connection
					t.Error(err)
				}
				synctest.Wait()
				near.Close()
				if err := <-gone; err == nil {
					t.Error("the handler did not see the disconnect")
				}
			})
		})
	}
}

// slowly serves one connection with a handler that takes 45 s, and returns how each call ended.
func slowly(t *testing.T) (near net.Conn, gone <-chan error) {
	t.Helper()
	ended := make(chan error, 2)
	wait := func(c *httpapi.Call) (httpapi.Response, error) {
		select {
		case <-time.After(45 * time.Second):
		case <-c.Context().Done():
		}
		ended <- c.Context().Err()
		return httpapi.Response{Body: []byte(`{}`)}, nil
	}
	h, err := httpapi.New(httpapi.Config{Access: httpapitest.Keys{liveKey, sandboxKey}, Routes: []httpapi.Route{
		{Method: http.MethodPost, Path: "/v1/slow", Body: httpapi.SmallBody, Handler: wait},
		{Method: http.MethodGet, Path: "/v1/slow", Type: "application/x-ndjson", Handler: wait},
	}})
	if err != nil {
		t.Fatal(err)
	}
	s, raw := server.New(h, nil), make(pipes)
	l := plain(t)(raw)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Serve(l)
	}()
	near, far := net.Pipe()
	raw <- far
	t.Cleanup(func() {
		near.Close()
		s.Close()
		<-done
	})
	return near, ended
}
