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
	// idleTimeout is how long a connection may be idle. Node, Apache and uvicorn close idle connections after 5 s by
	// default. If a request is sent while the server closes the connection, it may or may not arrive.
	idleTimeout = 4 * time.Second
	maxHeader   = 64 << 10
	// readBuffer is the size of a read buffer. If a server answers without a request, net/http
	// logs at most this many bytes of the answer.
	readBuffer = 1 << 10
)

// newTransport returns a transport without redirects, proxy or compression. It uses HTTP/1.1, so
// that a connection carries one request at a time.
func newTransport(d *Description, dial dialer) *http.Transport {
	// net/http continues a dial after the end of its request, because the connection may serve
	// the next one. The dial therefore needs its own timeout.
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

// attemptConn is a connection that is bound to one attempt at a time. It writes only what the attempt permits. If bytes
// arrive while no attempt is bound, they answer no request. Read then drops them and returns EOF.
type attemptConn struct {
	net.Conn
	attempt atomic.Pointer[attempt]
}

// Write sends bytes of the request of the current attempt.
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

func (l *attemptConn) Read(b []byte) (int, error) {
	n, err := l.Conn.Read(b)
	if n > 0 && l.attempt.Load() == nil {
		return 0, io.EOF
	}
	return n, err
}

// attempt is the single transmission of a request, over one connection. net/http would send some requests again on
// another connection. An attempt prevents that, because a second request could move money twice.
type attempt struct {
	mu      sync.Mutex
	conn    *attemptConn // carries the bytes of the attempt; nil while none was written
	written bool         // at least one byte was written
	ended   bool
}

var (
	errEnded       = errors.New("the request has ended")
	errAlreadySent = errors.New("the request was sent already")
)

// begin permits writing on a connection, unless the attempt has ended or uses another connection.
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

// wrote records that n bytes were written. Until the first byte is written, the attempt may change its connection.
func (a *attempt) wrote(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.written = a.written || n > 0
	if !a.written {
		a.conn = nil
	}
}

// giveUp ends the attempt. It returns true if bytes were written, or if a write is in progress. If it returns false, no
// bytes will be written.
func (a *attempt) giveUp() (sent bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended = true
	return a.conn != nil
}

// trace returns a context whose request binds its connection to this attempt. attemptConn.Write fails on an unbound
// connection. net/http calls GotConn, which binds the connection, before it writes.
func (a *attempt) trace(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) {
			if l, ok := info.Conn.(*attemptConn); ok {
				l.attempt.Store(a)
			}
		},
	})
}
