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
	// maxHeader is the maximum size of a response's header in bytes, including 1xx responses.
	maxHeader = 64 << 10
	// maxBody is how much of a response's body the sender reads, in bytes.
	maxBody = 64 << 10
	// keptBody is how much of a response's body a [Result] contains, in bytes.
	keptBody = 1 << 10
	// keptHeader is how many bytes of a response's header a [Result] contains. Each value is cut to keptValue bytes.
	keptHeader = 2 << 10
	keptValue  = 512
	// defaultTimeout is the default of Config.Timeout: the time that the API documents for a receiver to answer.
	defaultTimeout = 5 * time.Second
	// grace limits the time for reading the body of a response. Only the status decides the result of the attempt. But
	// the body helps to find a fault, and the connection can be reused only after the end of the body. Half a second is
	// several round trips around the earth. Without this limit, a slow body could extend the attempt to its full
	// timeout.
	grace = 500 * time.Millisecond
	// idleTimeout is how long a connection may be idle. Node, Apache and uvicorn close idle connections after 5 s by
	// default. If the receiver closes the connection first, a request sent at that moment fails.
	idleTimeout = 4 * time.Second
	// readBuffer is the size of a connection's read buffer in bytes. A usual response fits into it. It also limits how
	// much net/http logs of an unsolicited response.
	readBuffer = 1 << 10
	// sessions is the number of TLS sessions that are cached. A session contains the receiver's certificates, at most
	// 256 KiB.
	sessions = 128
	// closeTimeout limits the time to close a TLS connection. With the limit of crypto/tls, 5 s, a receiver that does
	// not read could double the time of an attempt.
	closeTimeout = 100 * time.Millisecond
	// defaultPerHost is the default of Config.PerHost. It equals the default concurrency of an endpoint.
	defaultPerHost = 8
	// defaultIdle is the default of Config.Idle. It has room for the connections of 32 endpoints.
	defaultIdle = 256
)

// Config configures a Sender.
type Config struct {
	// Control checks the address of a connection before the sender connects, as in net.Dialer; nil for no check. If
	// it returns an error, the sender does not connect.
	Control func(network, address string, c syscall.RawConn) error
	// Resolver resolves names; nil for the system's resolver.
	Resolver *net.Resolver
	// Roots are the trusted certificate authorities; nil for the system's.
	Roots *x509.CertPool
	// PerHost limits the idle connections to each host; 0 means 8. Idle limits all idle connections; 0 means 256.
	PerHost, Idle int
	// Timeout limits the time of an attempt, from DNS to the body; 0 means 5 s.
	Timeout time.Duration
}

// New returns a sender without connecting.
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
	// net/http continues a dial after its request has ended, because a later request may use the connection. So the
	// dial and the handshake have their own timeouts. The dial's timeout is slightly longer than the attempt's, so that
	// the attempt times out first.
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
				return fastCloseConn{conn}, nil
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

// fastCloseConn is a connection that closes within closeTimeout. It shortens every write deadline to closeTimeout. That
// affects only closing: crypto/tls sets a write deadline when it closes the connection, and nothing else sets one.
type fastCloseConn struct{ net.Conn }

func (c fastCloseConn) SetWriteDeadline(t time.Time) error {
	if most := time.Now().Add(closeTimeout); t.After(most) {
		t = most
	}
	return c.Conn.SetWriteDeadline(t)
}
