package fixturetest

import (
	"crypto/tls"
	"net"
	"testing"
)

// Port listens on a free port of 127.0.0.1, with TLS unless secure is nil, and gives each
// connection to serve, in a goroutine of its own; serve closes it. It listens until the
// test is over or its caller closes it. A port that cannot be had fails the test.
func Port(tb testing.TB, secure *tls.Config, serve func(conn net.Conn)) net.Listener {
	tb.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	if secure != nil {
		listener = tls.NewListener(listener, secure)
	}
	tb.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go serve(conn)
		}
	}()
	return listener
}
