package httpapi_test

import (
	"net"
	"net/http"
	"testing"

	"vayu/internal/httpapi"
	"vayu/internal/httpapi/httpapitest"
)

// serve serves h on a socket and returns its address.
func serve(tb testing.TB, h http.Handler, wrap func(net.Listener) net.Listener) string {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	address := l.Addr().String()
	if wrap != nil {
		l = wrap(l)
	}
	serveOn(tb, l, h)
	return address
}

func serveOn(tb testing.TB, l net.Listener, h http.Handler) {
	tb.Helper()
	server := httpapi.NewServer(h, nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(l)
	}()
	tb.Cleanup(func() {
		_ = server.Close()
		<-done
	})
}

// plain wraps a listener as a service does.
func plain(tb testing.TB) func(net.Listener) net.Listener {
	tb.Helper()
	return func(l net.Listener) net.Listener {
		wrapped, err := httpapi.NewListener(l, nil, nil, httpapi.Connections{})
		if err != nil {
			tb.Fatal(err)
		}
		return wrapped
	}
}

// testAccess has two keys and no limits.
func testAccess() httpapi.Access { return httpapitest.Keys{liveKey, sandboxKey} }
