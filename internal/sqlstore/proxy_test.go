package sqlstore_test

import (
	"net"
	"net/url"
	"sync/atomic"
	"testing"

	"vayu/internal/config"
	"vayu/internal/testing/fixture"
)

// port is in front of a server, whose address is asked for each connection. Each is
// given to wire, which does not wait for its end.
func port(t *testing.T, server func() string, wire func(client, server net.Conn)) net.Listener {
	t.Helper()
	return fixture.Port(t, nil, func(client net.Conn) {
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

// fate is what becomes of a piece of what one end says.
type fate int

const (
	told fate = iota
	swallowed
	last // it is not told, and the connection ends
)

// pass copies until an end closes; of decides about each piece.
func pass(to, from net.Conn, of func() fate) {
	defer to.Close()
	defer from.Close()
	piece := make([]byte, 64<<10)
	for {
		n, err := from.Read(piece)
		if err != nil {
			return
		}
		switch of() {
		case swallowed:
			continue
		case last:
			return
		case told:
		}
		if _, err := to.Write(piece[:n]); err != nil {
			return
		}
	}
}

func whole() fate { return told }

// answering passes what clients say to a server; of decides about each piece of its answers.
func answering(t *testing.T, dsn config.DSN, of func() fate) config.DSN {
	t.Helper()
	return between(t, dsn, func(client, server net.Conn) {
		go pass(server, client, whole)
		go pass(client, server, of)
	})
}

// proxy passes bytes to the server until cut: then what the client said still goes
// through, and the answer does not. One connection breaks; the next ones are whole.
func proxy(t *testing.T, dsn config.DSN) (through config.DSN, cut func()) {
	t.Helper()
	var cutting atomic.Bool
	through = answering(t, dsn, func() fate {
		if cutting.CompareAndSwap(true, false) {
			return last
		}
		return told
	})
	return through, func() { cutting.Store(true) }
}

// silence passes bytes to the server until hush: then it goes on taking
// connections and what they say, and answers nothing.
func silence(t *testing.T, dsn config.DSN) (through config.DSN, hush func()) {
	t.Helper()
	var silent atomic.Bool
	through = answering(t, dsn, func() fate {
		if silent.Load() {
			return swallowed
		}
		return told
	})
	return through, func() { silent.Store(true) }
}

// delay passes bytes to the server until hold: the next thing that the client says is kept, and the client loses its
// connection. Deliver says it to the server and returns when the server has answered.
func delay(t *testing.T, dsn config.DSN) (through config.DSN, hold, deliver func()) {
	t.Helper()
	var holding atomic.Bool
	release, answered := make(chan struct{}), make(chan struct{})
	through = between(t, dsn, func(client, server net.Conn) {
		var held atomic.Bool
		go pass(server, client, func() fate {
			if holding.CompareAndSwap(true, false) {
				held.Store(true)
				_ = client.Close()
				<-release
			}
			return told
		})
		go func() {
			pass(client, server, whole)
			if held.Load() {
				close(answered)
			}
		}()
	})
	return through, func() { holding.Store(true) }, func() { close(release); <-answered }
}
