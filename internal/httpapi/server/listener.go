package server

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// NewListener returns a listener for a server of [New]. It accepts connections from l, with TLS unless `config` is nil.
//
// At most maxConnections are open at once, and at most limits.PerAddress of one client. A new connection beyond
// maxConnections replaces the connection that has been idle longest; if none is idle, the new connection waits. A
// new connection beyond limits.PerAddress replaces the longest idle connection of the same client; if none is
// idle, the listener closes the new connection.
func NewListener(l net.Listener, config *tls.Config, reg prometheus.Registerer, limits Connections) net.Listener {
	auto := promauto.With(reg)
	handshakes := auto.NewCounter(prometheus.CounterOpts{
		Name: "vayu_tls_handshake_failures_total", Help: "Connections whose TLS handshake failed.",
	})
	closings := auto.NewCounterVec(prometheus.CounterOpts{
		Name: "vayu_http_connections_closed_total",
		Help: "Connections closed because there was no room, by reason: share (idle, of a client at its share), room (idle, of any), refused (new).",
	}, []string{"reason"})
	for _, why := range [...]string{closedForShare, closedForRoom, closedRefused} {
		closings.WithLabelValues(why)
	}
	l = newLimitedListener(l, limits, closings)
	if config == nil {
		return plainListener{l}
	}
	return &tlsListener{Listener: l, handshakeFailures: handshakes, config: config, ready: make(chan accepted), closed: make(chan struct{})}
}

// plainListener accepts connections without TLS.
type plainListener struct{ net.Listener }

// Accept implements net.Listener.
func (l plainListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c}, nil
}

// tlsListener completes the TLS handshake before it passes a connection to net/http. With TLS in net/http, the type
// `conn` would see only encrypted bytes, and could not insert headers.
type tlsListener struct {
	net.Listener
	handshakeFailures prometheus.Counter
	config            *tls.Config
	begin             sync.Once
	end               sync.Once
	ready             chan accepted
	closed            chan struct{}
}

type accepted struct {
	net.Conn
	err error
}

// Accept implements net.Listener.
func (l *tlsListener) Accept() (net.Conn, error) {
	l.begin.Do(func() { go l.accept() })
	select {
	case a := <-l.ready:
		return a.Conn, a.err
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *tlsListener) Close() error {
	l.end.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// accept runs until the listener is closed. It passes every error to the caller of Accept, which is net/http. So
// net/http pauses after an error, for example while no file descriptor is free.
func (l *tlsListener) accept() {
	for {
		c, err := l.Listener.Accept()
		if err == nil {
			go l.handshake(c)
			continue
		}
		l.hand(accepted{err: err})
		select {
		case <-l.closed:
			return
		default:
		}
		if errors.Is(err, net.ErrClosed) {
			return
		}
	}
}

// hand passes a connection or an error to Accept. If the listener is closed, hand closes the connection instead.
func (l *tlsListener) hand(a accepted) {
	select {
	case l.ready <- a:
	case <-l.closed:
		if a.Conn != nil {
			a.Close()
		}
	}
}

func (l *tlsListener) handshake(c net.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), headerTimeout)
	defer cancel()
	secure := tls.Server(c, l.config)
	if err := secure.HandshakeContext(ctx); err != nil {
		l.handshakeFailures.Inc()
		if e, ok := errors.AsType[tls.RecordHeaderError](err); ok && e.Conn != nil && looksLikeHTTP(e.RecordHeader) {
			_, _ = io.WriteString(e.Conn, httpsOnly)
		}
		c.Close()
		return
	}
	switch secure.ConnectionState().NegotiatedProtocol {
	case "h2": // HTTP/2 of net/http requires a *tls.Conn
		l.hand(accepted{Conn: secure})
	case "", "http/1.1":
		l.hand(accepted{Conn: secureConn{&conn{Conn: secure}, secure}})
	default: // an ACME authority, which needs only the handshake
		c.Close()
	}
}

// httpsOnly is the reply to an HTTP request on an HTTPS port.
const httpsOnly = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n" +
	"This port accepts HTTPS only.\n"

func looksLikeHTTP(header [5]byte) bool {
	switch string(header[:]) {
	case "GET /", "HEAD ", "POST ", "PUT /", "OPTIO", "DELET", "PATCH", "TRACE", "CONNE":
		return true
	default:
		return false
	}
}
