// Package sender makes one attempt of a delivery: it posts bytes to a URL and says
// what came of it, and trusts nothing that the receiver does.
package sender

import (
	"context"
	"net/http"
	"sync"
	"time"

	"vayu/schema"
)

// Sender posts. It can be used by many goroutines at once.
type Sender struct {
	transport *http.Transport
	timeout   time.Duration
	buffers   sync.Pool // of *[4096]byte
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
	// made. When it fails, nothing is sent.
	Sign func(now time.Time) (string, error)
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
	// Unsent says that Sign has failed, so that there was no attempt: no byte of the
	// request was written, and but for SentAt and Duration the rest says nothing.
	Unsent bool
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
	if a.unsigned.Load() {
		r.Unsent = true
		if err == nil { // an answer to nothing
			resp.Body.Close()
		}
		return
	}
	if err == nil && resp.StatusCode < 100 {
		resp.Body.Close()
		err = errStatus
	}
	if err != nil {
		r.Stage = a.stage()
		if isRefused(err) { // before a byte went anywhere
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
	// From here on the timer can only cut the body short.
	timer.Reset(max(0, min(grace, s.timeout-time.Since(r.SentAt))))
	r.Body = s.read(resp)
}

// Close closes the idle connections.
func (s *Sender) Close() { s.transport.CloseIdleConnections() }
