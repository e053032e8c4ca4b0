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

	"vayu/pipeline/httpconnector/answer"
)

// ErrNotSent means that no byte of the request has reached the provider, and none will. For
// example, there was no connection, or the request could not be built.
var ErrNotSent = errors.New("nothing was sent")

// ErrNotCalled means that no call was attempted, because the breaker is open, or half-open with a probe in flight.
// The caller may try again later.
var ErrNotCalled = errors.New("the provider was not called")

// CallResult is the result of a call, as a metric label.
type CallResult string

const (
	succeeded CallResult = "ok"
	stopped   CallResult = "stopped"        // cancelled by the caller, or no slot was free in time
	refused   CallResult = "breaker_open"   // not attempted, see ErrNotCalled
	unfit     CallResult = "unfit"          // the fields do not fit the description
	noConn    CallResult = "not_connected"  // nothing was sent
	tooSlow   CallResult = "timeout"        // the answer did not come within the timeout
	broken    CallResult = "broken_off"     // the connection ended before the answer did
	badStatus CallResult = "http_status"    // the description does not accept the HTTP status
	badAnswer CallResult = "not_understood" // the answer is too long, no JSON or no list
	unmapped  CallResult = "not_mapped"     // a required field is missing or has an unmapped value
	forged    CallResult = "not_genuine"    // a callback has no valid signature
)

// Error is the reason why a call has no reply.
type Error struct {
	Result CallResult
	HTTP   int // status of the answer; 0 for none
	err    error
	detail string // text of the provider or the network; for debug logs only
}

// Error returns the message. It quotes the provider only if the error is about an unmapped value.
func (e *Error) Error() string { return e.err.Error() }

// Unwrap lets errors.Is find causes such as ErrNotSent, ErrNotCalled and context errors.
func (e *Error) Unwrap() error { return e.err }

var (
	errNoCall       = errors.New("the description has no such call")
	errOpen         = fmt.Errorf("%w: the circuit breaker is open after too many failed calls", ErrNotCalled)
	errPath         = errors.New("the fields do not form a path")
	errNoIdentifier = errors.New("the fields that identify the subject are empty")
)

func notSent(r CallResult, err error) error {
	return &Error{Result: r, err: &notSentError{err}}
}

// notSentError adds the reason to ErrNotSent.
type notSentError struct{ reason error }

func (e *notSentError) Error() string   { return ErrNotSent.Error() + ": " + e.reason.Error() }
func (e *notSentError) Unwrap() []error { return []error{ErrNotSent, e.reason} }

func resultOf(err error) CallResult {
	if err == nil {
		return succeeded
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Result
	}
	return broken
}

// detailOf returns the details that an *Error has for debug logs; "" for other errors.
func detailOf(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.detail
	}
	return ""
}

// isHealthy reports for the breaker whether a provider works. These errors do not show a fault of the provider:
// an unmapped value, an unexpected HTTP status below 500, and a request that we cannot build.
func isHealthy(err error) bool {
	switch e, _ := errors.AsType[*Error](err); {
	case err == nil:
		return true
	case e == nil:
		return false
	default:
		return e.Result == unmapped || e.Result == unfit || e.Result == badStatus && e.HTTP < 500
	}
}

// failure returns the error of a call without a complete answer. `sent` means that bytes of the request may have been
// sent.
func failure(parent, ctx context.Context, err error, sent bool) error {
	f := &Error{Result: broken, detail: clip(strconv.Quote(err.Error()))}
	switch {
	case errors.Is(parent.Err(), context.Canceled):
		f.Result, f.err = stopped, context.Canceled
	case ctx.Err() != nil || isTimeout(err):
		f.Result, f.err = tooSlow, context.DeadlineExceeded
	default:
		f.err = connectionError(err, sent)
	}
	if !sent {
		if f.Result == broken {
			f.Result = noConn
		}
		f.err = &notSentError{f.err}
	}
	return f
}

func isTimeout(err error) bool {
	var t net.Error
	return errors.As(err, &t) && t.Timeout()
}

// connectionError describes a connection failure without quoting the server.
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
		return errors.New("the certificate is of an unknown authority; set ca-file")
	case errors.As(err, &host):
		return errors.New("the certificate is for another host")
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return errors.New("the certificate has expired, or is not valid yet")
	case errors.As(err, &verify):
		return errors.New("the certificate is not valid")
	case errors.As(err, &record):
		return errors.New("the server does not use TLS")
	case errors.Is(err, errAlreadySent):
		return errors.New("the connection was closed before an answer")
	case !sent:
		return errors.New("no connection was established")
	}
	return errors.New("the connection ended before the answer, or the answer is not HTTP")
}

func answerError(err error, status int, body []byte) error {
	f := &Error{Result: badAnswer, HTTP: status, err: err, detail: excerpt(body)}
	if _, ok := errors.AsType[*answer.UnmappedError](err); ok {
		f.Result = unmapped
	}
	return f
}

// excerpt returns the beginning of an answer, for debug logs.
func excerpt(body []byte) string {
	const most = 200
	return strconv.Quote(string(body[:min(most, len(body))]))
}

// IsUnreadable reports whether an error is due to an unreadable answer. Examples are an error page,
// invalid JSON, and a value that the description does not map.
func IsUnreadable(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && (e.Result == badStatus || e.Result == badAnswer || e.Result == unmapped)
}

func clip(text string) string {
	if len(text) > 60 {
		return text[:60] + "…"
	}
	return text
}
