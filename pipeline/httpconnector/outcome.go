package httpconnector

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"
)

// ErrNotSent says that nothing of the request has reached the upstream, and nothing
// will: no connection came about, or the request could not be made.
var ErrNotSent = errors.New("nothing was sent")

// ErrNotAsked says that nothing was tried, because others have failed: the breaker is
// open, or one call is on its way to find out whether the upstream is well again. It
// says nothing about this call, which can be made later.
var ErrNotAsked = errors.New("the upstream was not asked")

// Outcome is what became of a call, for metrics.
type Outcome string

// The outcomes.
const (
	succeeded Outcome = "ok"
	stopped   Outcome = "stopped"      // the caller did not wait
	refused   Outcome = "breaker_open" // not made, because others have failed
	unfit     Outcome = "unfit"        // the request could not be made of the fields
	noConn    Outcome = "not_connected"
	tooSlow   Outcome = "timeout"
	broken    Outcome = "broken_off"
	badStatus Outcome = "http_status"
	badAnswer Outcome = "not_understood"
	unmapped  Outcome = "not_mapped"
	forged    Outcome = "not_genuine" // a callback
)

// Error is why a call has no reply.
type Error struct {
	Outcome Outcome
	HTTP    int // status of the answer; 0 for none
	err     error
	detail  string // what the upstream or the network said; for the log's debug level only
}

// Error says it in our own words, and with the upstream's only where that is one
// which the description does not map.
func (e *Error) Error() string { return e.err.Error() }

// Unwrap gives ErrNotSent, ErrNotAsked and errors of contexts to errors.Is.
func (e *Error) Unwrap() error { return e.err }

var (
	errNoCall       = errors.New("the description has no such call")
	errOpen         = fmt.Errorf("%w: too many calls have failed one after the other, and it is not time yet to try again", ErrNotAsked)
	errPath         = errors.New("the fields make no path")
	errNoIdentifier = errors.New("the fields that say what it is about are empty")
)

func notSent(o Outcome, err error) error {
	return &Error{Outcome: o, err: &notSentError{err}}
}

// notSentError is ErrNotSent with its reason.
type notSentError struct{ reason error }

func (e *notSentError) Error() string   { return ErrNotSent.Error() + ": " + e.reason.Error() }
func (e *notSentError) Unwrap() []error { return []error{ErrNotSent, e.reason} }

func outcomeOf(err error) Outcome {
	if err == nil {
		return succeeded
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Outcome
	}
	return broken
}

// detailOf is what somebody who connects an upstream wants to see; empty for nothing.
func detailOf(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.detail
	}
	return ""
}

// isHealthy says whether an upstream is well, for the breaker: it answers, whatever it
// says, but for 5xx and for what is not JSON at all. What we could not even ask says
// nothing against it.
func isHealthy(err error) bool {
	switch e, _ := errors.AsType[*Error](err); {
	case err == nil:
		return true
	case e == nil:
		return false
	default:
		return e.Outcome == unmapped || e.Outcome == unfit || e.Outcome == badStatus && e.HTTP < 500
	}
}

// failure explains why there is no answer.
func failure(parent, ctx context.Context, err error, sent bool) error {
	f := &Error{Outcome: broken, detail: clip(strconv.Quote(err.Error()))}
	switch {
	case errors.Is(parent.Err(), context.Canceled):
		f.Outcome, f.err = stopped, context.Canceled
	case ctx.Err() != nil || isTimeout(err):
		f.Outcome, f.err = tooSlow, context.DeadlineExceeded
	default:
		f.err = connectionError(err, sent)
	}
	if !sent {
		if f.Outcome == broken {
			f.Outcome = noConn
		}
		f.err = &notSentError{f.err}
	}
	return f
}

func isTimeout(err error) bool {
	var t net.Error
	return errors.As(err, &t) && t.Timeout()
}

// connectionError says what has happened to a connection without quoting anybody.
func connectionError(err error, sent bool) error {
	var (
		dns       *net.DNSError
		authority x509.UnknownAuthorityError
		host      x509.HostnameError
		invalid   x509.CertificateInvalidError
		verify    *tls.CertificateVerificationError
		record    tls.RecordHeaderError
	)
	switch {
	case errors.As(err, &dns):
		return errors.New("the name of the host is not found")
	case errors.Is(err, syscall.ECONNREFUSED):
		return errors.New("the connection is refused")
	case errors.As(err, &authority):
		return errors.New("the certificate is of an authority that is not known; see ca-file")
	case errors.As(err, &host):
		return errors.New("the certificate is for another host")
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return errors.New("the certificate has expired, or is not valid yet")
	case errors.As(err, &verify):
		return errors.New("the certificate is not valid")
	case errors.As(err, &record):
		return errors.New("the other side does not speak TLS")
	case errors.Is(err, errAlreadySent):
		return errors.New("the connection was closed before an answer")
	case !sent:
		return errors.New("no connection came about")
	}
	return errors.New("the connection ended before the answer did, or the answer is no HTTP")
}

// answerError is an answer that says nothing to us.
func answerError(err error, status int, body []byte) error {
	f := &Error{Outcome: badAnswer, HTTP: status, err: err, detail: excerpt(body)}
	if _, ok := errors.AsType[*unmappedError](err); ok {
		f.Outcome = unmapped
	}
	return f
}

// excerpt is the beginning of an answer, for somebody who connects an upstream.
func excerpt(body []byte) string {
	const most = 200
	return strconv.Quote(string(body[:min(most, len(body))]))
}

// Misunderstood reports whether an error is that an answer came which says nothing to
// us: an error page, no JSON, or words that the description does not map.
func Misunderstood(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && (e.Outcome == badStatus || e.Outcome == badAnswer || e.Outcome == unmapped)
}
