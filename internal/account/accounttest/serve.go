package accounttest

import (
	"net"
	"testing"

	"vayu/internal/api"
)

// Serve serves routes over a connection as the service does, until the test ends, and
// returns where.
func Serve(tb testing.TB, access api.Access, routes []api.Route) (url string) {
	tb.Helper()
	h, err := api.New(api.Config{Routes: routes, Access: access})
	if err != nil {
		tb.Fatal(err)
	}
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	listener, err := api.NewListener(socket, nil, nil, api.Connections{})
	if err != nil {
		tb.Fatal(err)
	}
	server := api.NewServer(h, nil)
	go func() { _ = server.Serve(listener) }() // until it is closed
	tb.Cleanup(func() { _ = server.Close() })
	return "http://" + socket.Addr().String()
}
