// Package sender makes one attempt of a delivery: it posts bytes to a URL and says
// what came of it, and trusts nothing that the receiver does.
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

	"vayu/schema"
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

// Sender posts. It can be used by many goroutines at once.
type Sender struct {
	transport *http.Transport
	timeout   time.Duration
	buffers   sync.Pool // of *[4096]byte
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

// Post is one attempt that is asked for.
type Post struct {
	URL string // http:// works too; that webhooks use https is the guard's business
	// Header is complete but for what Sign adds, and is not changed. Nothing else goes
	// out but Host and Content-Length. An Idempotency-Key is left out: net/http would
	// take it for the leave to send a request again by itself.
	Header http.Header
	Body   []byte // not changed
	// Sign makes the X-SERVICE-Signature, when there is a connection and nothing
	// stands between it and the request; nil for none. It is called again when the
	// connection turns out to be closed before a byte was written, and a new one is
	// made.
	Sign func(now time.Time) string
}

// Result is what became of an attempt.
type Result struct {
	SentAt   time.Time // when the attempt began
	Duration time.Duration
	Stage    schema.Stage // the last that was reached
	Status   int          // HTTP; 0 for no answer
	Error    string       // why it is no success, in words for the owner of the receiver; no more than 200 bytes
	Body     []byte       // the first KiB of the answer
	// Slow says that the attempt ended because its time was over.
	Slow bool
}

// OK says that the receiver has acknowledged: 2xx.
func (r *Result) OK() bool { return r.Status >= 200 && r.Status < 300 }

// Send makes an attempt. It returns when ctx ends, too; then the result is that
// of an attempt that was broken off.
//
// The request is written once. A connection from the pool may have been closed by
// the receiver meanwhile; when not one byte could be written to it the request
// goes to another, and in every other case the attempt fails, for the receiver may
// have it.
func (s *Sender) Send(ctx context.Context, p Post) Result {
	r := Result{SentAt: time.Now()}
	s.send(ctx, p, &r)
	r.Duration = time.Since(r.SentAt)
	return r
}

func (s *Sender) send(parent context.Context, p Post, r *Result) {
	ctx, cancel := context.WithCancel(parent)
	defer cancel()
	a := &attempt{sign: p.Sign, cancel: cancel}
	timer := time.AfterFunc(s.timeout, a.expire)
	defer timer.Stop()

	req, err := a.request(ctx, p)
	if err != nil {
		r.Stage, r.Error = schema.StageDNS, textURL
		return
	}
	resp, err := s.transport.RoundTrip(req)
	if err == nil && resp.StatusCode < 100 {
		resp.Body.Close()
		err = errStatus
	}
	if err != nil {
		r.Stage = a.stage()
		switch {
		case parent.Err() != nil:
			r.Error = textStopped
		case a.slow.Load() || timedOut(err):
			r.Slow, r.Error = true, slowness(r.Stage, s.timeout)
		default:
			r.Error = explain(err, r.Stage)
		}
		return
	}
	r.Stage, r.Status = schema.StageStatus, resp.StatusCode
	if !r.OK() {
		r.Error = refusal(resp.StatusCode)
	}
	// From here on the timer can only cut the body short.
	timer.Reset(max(0, min(grace, s.timeout-time.Since(r.SentAt))))
	r.Body = s.read(resp)
}

// Close closes the idle connections.
func (s *Sender) Close() { s.transport.CloseIdleConnections() }
