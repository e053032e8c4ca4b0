package sqlstore_test

import (
	"net"
	"net/url"
	"sync/atomic"
	"testing"

	"vayu/internal/config"
	"vayu/internal/testing/fixture"
)

// port listens in front of a server, whose address is looked up for each connection. Each connection is
// passed to wire in a goroutine.
func port(t *testing.T, server func() string, wire func(client, server net.Conn)) net.Listener {
	t.Helper()
	return fixture.Listen(t, nil, func(client net.Conn) {
		upstream, err := net.Dial("tcp", server())
		if err != nil {
			_ = client.Close()
			return
		}
		wire(client, upstream)
	})
}

// between is a port in front of the server of a DSN.
func between(t *testing.T, dsn config.DSN, wire func(client, server net.Conn)) config.DSN {
	t.Helper()
	address, err := url.Parse(string(dsn))
	if err != nil {
		t.Fatal(err)
	}
	host := address.Host
	address.Host = port(t, func() string { return host }, wire).Addr().String()
	return config.DSN(address.String())
}

// action is the treatment of a piece of data of one end.
type action int

const (
	forward action = iota
	drop
	dropAndClose // it is not forwarded, and the connection closes
)

// pass copies until an end closes; of decides about each piece.
func pass(to, from net.Conn, of func() action) {
	defer to.Close()
	defer from.Close()
	piece := make([]byte, 64<<10)
	for {
		n, err := from.Read(piece)
		if err != nil {
			return
		}
		switch of() {
		case drop:
			continue
		case dropAndClose:
			return
		case forward:
		}
		if _, err := to.Write(piece[:n]); err != nil {
			return
		}
	}
}

func forwardAll() action { return forward }

// answering forwards client data to a server; of decides about each piece of the replies.
func answering(t *testing.T, dsn config.DSN, of func() action) config.DSN {
	t.Helper()
	return between(t, dsn, func(client, server net.Conn) {
		go pass(server, client, forwardAll)
		go pass(client, server, of)
	})
}

// proxy forwards bytes to the server until cut. Then the client's data is still forwarded, and the reply is
// not. One connection breaks; the next ones work.
func proxy(t *testing.T, dsn config.DSN) (through config.DSN, cut func()) {
	t.Helper()
	var cutting atomic.Bool
	through = answering(t, dsn, func() action {
		if cutting.CompareAndSwap(true, false) {
			return dropAndClose
		}
		return forward
	})
	return through, func() { cutting.Store(true) }
}

// silence forwards bytes to the server until hush. Then it still accepts connections and data, and answers
// nothing.
func silence(t *testing.T, dsn config.DSN) (through config.DSN, hush func()) {
	t.Helper()
	var silent atomic.Bool
	through = answering(t, dsn, func() action {
		if silent.Load() {
			return drop
		}
		return forward
	})
	return through, func() { silent.Store(true) }
}
