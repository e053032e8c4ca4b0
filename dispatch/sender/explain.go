package sender

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"time"

	"vayu/schema"
)

// The texts are read by the owner of a receiver, who may be anybody: they say what
// to look at, and nothing of this side: no address that a name has resolved to, no
// text of a library. What the receiver has sent is in none of them either. A name
// that does not exist and one that leads inside have the same text, at the same
// stage: the difference is what names there are inside.
const (
	textURL       = "the URL of the subscription cannot be used"
	textStopped   = "the attempt was broken off because the service stopped"
	textAddress   = "the address is not public, or the port is not allowed"
	textNoName    = "the host name has no public address, or the port is not allowed"
	textName      = "the host name could not be resolved"
	textNoListen  = "the receiver refused the connection"
	textNoRoute   = "the receiver cannot be reached"
	textHost      = "the certificate is not valid for this host name"
	textAuthority = "the certificate is not signed by a known authority, or its chain is incomplete"
	textExpired   = "the certificate has expired or is not valid yet"
	textBadCert   = "the certificate is not valid"
	textNoTLS     = "the receiver does not speak TLS at this port"
	textAlert     = "the receiver refused the TLS handshake; TLS 1.2 or 1.3 and HTTP/1.1 are needed"
	textHandshake = "the TLS handshake failed"
	textCut       = "the receiver closed the connection in the TLS handshake"
	textClosed    = "the receiver closed the connection without an answer"
	textHeader    = "the header of the answer is larger than 64 KiB"
	textNoHTTP    = "the answer is not HTTP/1.1"
	textRequest   = "the request could not be made"
)

var errStatus = errors.New("the status is no HTTP status")

// refusedError is a connection that Config.Control has refused.
type refusedError struct{ err error }

func (e *refusedError) Error() string { return "refused: " + e.err.Error() }

func (e *refusedError) Unwrap() error { return e.err }

func isRefused(err error) bool {
	_, is := errors.AsType[*refusedError](err)
	return is
}

// timedOut says whether an error is one of time: the kernel's or net/http's bounds
// may be reached an instant before the attempt's own. A DNS server that is silent
// is given up by the resolver, which is another matter.
func timedOut(err error) bool {
	var name *net.DNSError
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout() && !errors.As(err, &name)
}

// slowness says at what an attempt was when its time was over.
func slowness(stage schema.Stage, timeout time.Duration) string {
	within := " within " + timeout.String()
	switch stage {
	case schema.StageDNS:
		return "the host name could not be resolved" + within
	case schema.StageConnect:
		return "the receiver did not accept the connection" + within
	case schema.StageTLS:
		return "the TLS handshake was not finished" + within
	case schema.StageWrite:
		return "the receiver did not take the request" + within
	default:
		return "the receiver did not answer" + within
	}
}

// explain says why an attempt at a host got no answer.
func explain(err error, stage schema.Stage, host string) string {
	if isRefused(err) {
		if _, err := netip.ParseAddr(host); err == nil {
			return textAddress
		}
		return textNoName
	}
	switch stage {
	case schema.StageDNS, schema.StageConnect:
		return explainDial(err)
	case schema.StageTLS:
		return explainTLS(err)
	default:
		return explainExchange(err)
	}
}

func explainDial(err error) string {
	var name *net.DNSError
	var op *net.OpError
	switch {
	case errors.As(err, &name) && name.IsNotFound:
		return textNoName
	case errors.As(err, &name):
		return textName
	case errors.Is(err, syscall.ECONNREFUSED):
		return textNoListen
	case errors.As(err, &op):
		return textNoRoute
	default:
		return textRequest
	}
}

func explainTLS(err error) string {
	var (
		host      x509.HostnameError
		authority x509.UnknownAuthorityError
		invalid   x509.CertificateInvalidError
		bad       *tls.CertificateVerificationError
		record    tls.RecordHeaderError
		op        *net.OpError
	)
	switch {
	case errors.As(err, &host):
		return textHost
	case errors.As(err, &authority):
		return textAuthority
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return textExpired
	case errors.As(err, &invalid), errors.As(err, &bad):
		return textBadCert
	case errors.As(err, &record):
		return textNoTLS
	case errors.As(err, &op) && op.Op == "remote error": // an alert, whose type is unexported
		return textAlert
	case closed(err):
		return textCut
	default:
		return textHandshake
	}
}

func explainExchange(err error) string {
	var op *net.OpError
	switch text := err.Error(); {
	// net/http has no types for these two; tests show when they read otherwise.
	case strings.Contains(text, "headers exceeded"):
		return textHeader
	case strings.Contains(text, "server closed idle connection"):
		return textClosed
	case closed(err):
		return textClosed
	case errors.As(err, &op) && op.Op == "remote error":
		// In TLS 1.3 the receiver sees the handshake end after the sender does.
		return textAlert
	default:
		return textNoHTTP
	}
}

func closed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}
