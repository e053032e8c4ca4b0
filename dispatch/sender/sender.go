// Package sender makes one attempt of a delivery: it posts bytes to a URL and says
// what came of it, and trusts nothing that the receiver does.
package sender

import (
	"context"
	"crypto/x509"
	"net/http"
	"syscall"
	"time"

	"vayu/schema"
)

// Config is what a Sender is made of.
type Config struct {
	// Control guards each connection, see net.Dialer.
	Control func(network, address string, c syscall.RawConn) error
	// Roots are the authorities that are believed; nil for the system's.
	Roots *x509.CertPool
	// PerHost is how many idle connections to one host are kept, Idle how many in
	// all.
	PerHost, Idle int
	// Timeout is for everything, from the name to the body; 0 means 5 s (spec 8).
	Timeout time.Duration
}

// Sender posts. It can be used by many goroutines at once.
type Sender struct{}

// New returns a sender. It connects to nothing yet.
func New(c Config) *Sender { panic("not written yet") }

// Post is one attempt that is asked for.
type Post struct {
	URL    string
	Header http.Header // complete but for what Sign adds; not changed
	Body   []byte      // not changed
	// Sign makes the X-SERVICE-Signature, when there is a connection and nothing
	// stands between it and the request.
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
func (s *Sender) Send(ctx context.Context, p Post) Result { panic("not written yet") }

// Close closes the idle connections.
func (s *Sender) Close() { panic("not written yet") }
