package httpapi_test

import (
	"net"
	"net/http"
	"testing"

	"vayu/internal/httpapi/server"
)

// serve serves h on a socket until the test ends, and returns its address. The function wrap wraps the listener;
// nil for none.
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

// serveOn is serve on a listener.
func serveOn(tb testing.TB, l net.Listener, h http.Handler) {
	tb.Helper()
	s := server.New(h, nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Serve(l)
	}()
	tb.Cleanup(func() {
		_ = s.Close()
		<-done
	})
}

// plain returns a function that wraps a listener as a service without TLS does.
func plain(tb testing.TB) func(net.Listener) net.Listener {
	tb.Helper()
	return func(l net.Listener) net.Listener {
		return server.NewListener(l, nil, nil, server.Connections{})
	}
}
