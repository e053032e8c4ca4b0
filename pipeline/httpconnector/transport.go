package httpconnector

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// idleTimeout is below the 5 s after which Node, Apache and uvicorn close an idle
	// connection by default: whoever sends in that moment does not know whether the
	// request has arrived.
	idleTimeout = 4 * time.Second
	maxHeader   = 64 << 10
	// readBuffer bounds what net/http logs of an answer that nobody asked for.
	readBuffer = 1 << 10
)

// newTransport is one that follows no redirect, uses no proxy, asks for no
// compression and speaks HTTP/1.1, in which a connection carries one request at a
// time.
func newTransport(d *Description, dial dialer) *http.Transport {
	// net/http lets a dial go on when its request has ended, since the connection may
	// serve the next: it needs a bound of its own.
	open := func(ctx context.Context, network, address string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, d.Timeout)
		defer cancel()
		return dial(ctx, network, address)
	}
	secure := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: d.roots, ServerName: d.base.Hostname(), ClientSessionCache: tls.NewLRUClientSessionCache(0)}
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	return &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := open(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return &attemptConn{Conn: conn}, nil
		},
		DialTLSContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := open(ctx, network, address)
			if err != nil {
				return nil, err
			}
			ctx, cancel := context.WithTimeout(ctx, d.Timeout)
			defer cancel()
			inside := tls.Client(conn, secure)
			if err := inside.HandshakeContext(ctx); err != nil {
				conn.Close()
				return nil, err
			}
			return &attemptConn{Conn: inside}, nil
		},
		Protocols:              &protocols,
		DisableCompression:     true,
		DisableKeepAlives:      !d.keepAlive,
		MaxIdleConns:           d.Concurrency,
		MaxIdleConnsPerHost:    d.Concurrency,
		IdleConnTimeout:        idleTimeout,
		MaxResponseHeaderBytes: maxHeader,
		ReadBufferSize:         readBuffer,
	}
}

type dialer func(ctx context.Context, network, address string) (net.Conn, error)

// attemptConn is a connection that knows which attempt it is used by. No byte goes out that
// the attempt does not let through, and what comes in while there is none is not
// read: it would be an answer to nothing.
type attemptConn struct {
	net.Conn
	attempt atomic.Pointer[attempt]
}

// Write sends bytes of the attempt that the connection is used by.
func (l *attemptConn) Write(b []byte) (int, error) {
	a := l.attempt.Load()
	if a == nil {
		return 0, errEnded
	}
	if err := a.begin(l); err != nil {
		return 0, err
	}
	n, err := l.Conn.Write(b)
	a.wrote(n)
	return n, err
}

// Read reads bytes of an answer.
func (l *attemptConn) Read(b []byte) (int, error) {
	n, err := l.Conn.Read(b)
	if n > 0 && l.attempt.Load() == nil {
		return 0, io.EOF
	}
	return n, err
}

// attempt is one request on its way. It goes over one connection, once: net/http
// sends requests again by itself that it takes for harmless, and nothing that moves
// money is.
type attempt struct {
	mu      sync.Mutex
	conn    *attemptConn // where its bytes go; nil while none has gone
	written bool         // at least one has
	ended   bool
}

var (
	errEnded       = errors.New("the request is over")
	errAlreadySent = errors.New("the request was sent already")
)

// begin lets bytes out on a connection.
func (a *attempt) begin(l *attemptConn) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.ended:
		return errEnded
	case a.conn != nil && a.conn != l:
		return errAlreadySent
	}
	a.conn = l
	return nil
}

// wrote notes how much has gone out. When it is nothing, another connection may do.
func (a *attempt) wrote(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.written = a.written || n > 0
	if !a.written {
		a.conn = nil
	}
}

// giveUp ends the attempt, and says whether bytes have gone out, or may be going out
// at this moment. When none has, none will.
func (a *attempt) giveUp() (sent bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended = true
	return a.conn != nil
}

// trace is the context in which a request is this attempt. net/http calls GotConn
// before the first byte of the request is handed to the connection.
func (a *attempt) trace(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) {
			if l, ok := info.Conn.(*attemptConn); ok {
				l.attempt.Store(a)
			}
		},
	})
}

// release says that the answer is complete, so that its connection belongs to nobody.
func (a *attempt) release() {
	a.mu.Lock()
	on := a.conn
	a.mu.Unlock()
	if on != nil {
		on.attempt.CompareAndSwap(a, nil)
	}
}
