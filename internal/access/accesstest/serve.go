package accesstest

import (
	"net"
	"testing"

	"vayu/internal/httpapi"
	"vayu/internal/httpapi/server"
)

// Serve serves routes over a real listener until the test ends, and returns the URL.
func Serve(tb testing.TB, access httpapi.Access, routes []httpapi.Route) (url string) {
	tb.Helper()
	h, err := httpapi.New(httpapi.Config{Routes: routes, Access: access})
	if err != nil {
		tb.Fatal(err)
	}
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	listener := server.NewListener(socket, nil, nil, server.Connections{})
	s := server.New(h, nil)
	go func() { _ = s.Serve(listener) }() // Serve returns when s is closed
	tb.Cleanup(func() { _ = s.Close() })
	return "http://" + socket.Addr().String()
}
