// Package sender makes delivery attempts: it posts a body to a URL and classifies the result. It
// does not trust the receiver.
package sender

import (
	"context"
	"net/http"
	"sync"
	"time"

	"vayu/schema"
)

// Sender makes delivery attempts. It is safe for concurrent use.
type Sender struct {
	transport *http.Transport
	timeout   time.Duration
	buffers   sync.Pool // of *[4096]byte
}

// Post is the request of an attempt.
type Post struct {
	URL string // Send also accepts http://; the package ssrf enforces https
	// Header has all headers of the request except the signature, Host and Content-Length. Send does not change it. Send
	// leaves out Idempotency-Key and X-Idempotency-Key, because net/http retries a request that has one of them.
	Header http.Header
	Body   []byte // Send does not change it
	// Sign returns the signature; nil for an unsigned request. Send calls it when the request gets a connection. It calls
	// Sign again for a new connection if the previous one is closed before a byte was written. If Sign fails, nothing is
	// sent.
	Sign func(now time.Time) (string, error)
}

// Result describes how an attempt ended.
type Result struct {
	SentAt   time.Time // start of the attempt
	Duration time.Duration
	Stage    schema.Stage // last stage reached
	Status   int          // HTTP status; 0 for no response
	Error    string       // shown to the owner of the receiver; at most 200 bytes
	Body     []byte       // first KiB of the response's body
	// Signature is the result of Sign; "" if the request was not written. Header is the header of the response, as
	// lines "Name: value" of at most 2 KiB together. Values that may be secret are masked. If lines are missing, the
	// last line is the constant [Cut].
	Signature, Header string
	// Slow means that the attempt timed out.
	Slow bool
	// Unsent means that Sign failed, so no byte of the request was written. Then only SentAt and Duration are set as well.
	Unsent bool
}

// OK reports whether the receiver acknowledged with 2xx.
func (r *Result) OK() bool { return r.Status >= 200 && r.Status < 300 }

// Send makes one attempt and returns how it ended. The end of ctx aborts the attempt.
//
// The request is written once. If a pooled connection is closed before a byte was written, the request uses another
// connection. After any other failure the request is not repeated, because the receiver may have it.
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
	if a.unsigned.Load() {
		r.Unsent = true
		if err == nil { // the receiver has responded before the request was written
			resp.Body.Close()
		}
		return
	}
	if err == nil && resp.StatusCode < 100 {
		resp.Body.Close()
		err = errStatus
	}
	if a.sent.Load() >= write {
		r.Signature = a.value[0]
	}
	if err != nil {
		r.Stage = a.stage()
		if isRefused(err) { // a forbidden address is reported in the same stage as an unknown name
			r.Stage = schema.StageDNS
		}
		switch {
		case parent.Err() != nil:
			r.Error = textStopped
		case a.slow.Load() || time.Since(r.SentAt) >= s.timeout || timedOut(err):
			r.Slow, r.Error = true, slowness(r.Stage, s.timeout)
		default:
			r.Error = explain(err, r.Stage, req.URL.Hostname())
		}
		return
	}
	r.Stage, r.Status = schema.StageStatus, resp.StatusCode
	if !r.OK() {
		r.Error = refusal(resp.StatusCode)
	}
	r.Header = headerText(resp.Header)
	// From here on the timer aborts only the reading of the body.
	timer.Reset(max(0, min(grace, s.timeout-time.Since(r.SentAt))))
	r.Body = s.read(resp)
}

// Close closes the idle connections.
func (s *Sender) Close() { s.transport.CloseIdleConnections() }
