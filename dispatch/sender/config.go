package sender

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"
)

const (
	// maxHeader is how much of an answer's header is read, with all that goes before
	// it (1xx), and maxBody how much of its body (CONTRACT 6).
	maxHeader = 64 << 10
	maxBody   = 64 << 10
	// keptBody is how much of the body is kept.
	keptBody = 1 << 10
	// defaultTimeout is the acknowledgement time of spec 8.
	defaultTimeout = 5 * time.Second
	// grace is how long the body of an answer is waited for. The status has decided
	// everything by then; the body is for a human who looks for a fault, and its end
	// is what makes the connection free for the next attempt. Half a second is some
	// round trips to the other side of the earth, and a tenth of what a receiver
	// could hold the attempt with otherwise.
	grace = 500 * time.Millisecond
	// idleTimeout is below the 5 s after which Node, Apache and uvicorn close an idle
	// connection by default. Whoever closes first can be posted to in the same
	// moment, and such an attempt would fail though the receiver is well.
	idleTimeout = 4 * time.Second
	// readBuffer holds a usual answer whole. It bounds, too, what net/http logs of an
	// answer that nobody asked for.
	readBuffer = 1 << 10
	// sessions is how many receivers a TLS handshake can be shortened for. A session
	// holds their certificates, 256 KiB at most.
	sessions = 128
	// farewell is how long the end of a TLS connection is waited for. crypto/tls gives
	// the last record 5 s, so that a receiver that reads nothing more could hold an
	// attempt for twice its time.
	farewell = 100 * time.Millisecond
	// defaultPerHost is the concurrency of an endpoint (CONTRACT 6), and defaultIdle
	// that of 32 endpoints.
	defaultPerHost = 8
	defaultIdle    = 256
)

// Config is what a Sender is made of.
type Config struct {
	// Control guards each connection, see net.Dialer; nil for no guard.
	Control func(network, address string, c syscall.RawConn) error
	// Resolver finds addresses; nil for the system's.
	Resolver *net.Resolver
	// Roots are the authorities that are believed; nil for the system's.
	Roots *x509.CertPool
	// PerHost is how many idle connections to one host are kept, Idle how many in
	// all; 0 means 8 and 256.
	PerHost, Idle int
	// Timeout is for everything, from the name to the body; 0 means 5 s (spec 8).
	Timeout time.Duration
}

// New returns a sender. It connects to nothing yet.
func New(c Config) *Sender {
	if c.Timeout <= 0 {
		c.Timeout = defaultTimeout
	}
	if c.PerHost <= 0 {
		c.PerHost = defaultPerHost
	}
	if c.Idle <= 0 {
		c.Idle = defaultIdle
	}
	// net/http lets a dial go on when its request has ended, since the connection may
	// serve the next: the dial and the handshake need bounds of their own. The dial's
	// is an instant longer, so that the attempt's own time is over first.
	dialer := &net.Dialer{Timeout: c.Timeout + c.Timeout/16, Resolver: c.Resolver}
	if c.Control != nil {
		dialer.Control = func(network, address string, conn syscall.RawConn) error {
			if err := c.Control(network, address, conn); err != nil {
				return &refusedError{err}
			}
			return nil
		}
	}
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	return &Sender{
		timeout: c.Timeout,
		buffers: sync.Pool{New: func() any { return new([4096]byte) }},
		transport: &http.Transport{
			DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				conn, err := dialer.DialContext(ctx, network, address)
				if err != nil {
					return nil, err
				}
				return prompt{conn}, nil
			},
			TLSClientConfig: &tls.Config{
				MinVersion:         tls.VersionTLS12,
				RootCAs:            c.Roots,
				ClientSessionCache: tls.NewLRUClientSessionCache(sessions),
			},
			TLSHandshakeTimeout:    c.Timeout,
			Protocols:              &protocols,
			DisableCompression:     true,
			MaxIdleConns:           c.Idle,
			MaxIdleConnsPerHost:    c.PerHost,
			IdleConnTimeout:        idleTimeout,
			MaxResponseHeaderBytes: maxHeader,
			ReadBufferSize:         readBuffer,
		},
	}
}

// prompt is a connection that ends within farewell. Nobody but the end of TLS sets
// deadlines on it: an attempt's time is that of its context.
type prompt struct{ net.Conn }

func (c prompt) SetWriteDeadline(t time.Time) error {
	if most := time.Now().Add(farewell); t.After(most) {
		t = most
	}
	return c.Conn.SetWriteDeadline(t)
}
