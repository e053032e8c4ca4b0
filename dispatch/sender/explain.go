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

// These are error texts for the owner of a receiver, who may be an attacker. They contain no resolved addresses,
// texts of libraries or data of the receiver. A name that does not exist has the same text and stage as a name with
// an internal address. Otherwise the owner could find out which internal names exist.
const (
	textURL       = "the URL of the subscription cannot be used"
	textStopped   = "the attempt was aborted because the service stopped"
	textAddress   = "the address is not public, or the port is not allowed"
	textNoName    = "the host name has no public address, or the port is not allowed"
	textName      = "the host name could not be resolved"
	textNoListen  = "the receiver refused the connection"
	textNoRoute   = "the receiver cannot be reached"
	textHost      = "the certificate is not valid for this host name"
	textAuthority = "the certificate is not signed by a known authority, or its chain is incomplete"
	textExpired   = "the certificate has expired or is not valid yet"
	textBadCert   = "the certificate is not valid"
	textNoTLS     = "the receiver does not use TLS on this port"
	textAlert     = "the receiver refused the TLS handshake; TLS 1.2 or 1.3 and HTTP/1.1 are needed"
	textHandshake = "the TLS handshake failed"
	textCut       = "the receiver closed the connection in the TLS handshake"
	textClosed    = "the receiver closed the connection without an answer"
	textHeader    = "the header of the answer is larger than 64 KiB"
	textNoHTTP    = "the answer is not HTTP/1.1"
	textRequest   = "the request could not be created"
)

var errStatus = errors.New("invalid HTTP status")

// refusedError is the error of a connection that Config.Control rejected.
type refusedError struct{ err error }

func (e *refusedError) Error() string { return "refused: " + e.err.Error() }

func (e *refusedError) Unwrap() error { return e.err }

func isRefused(err error) bool {
	_, is := errors.AsType[*refusedError](err)
	return is
}

// timedOut reports whether an error is a timeout of the kernel or of net/http. Such a timeout may occur just before the
// attempt's own timeout, and counts as that one. A DNS timeout does not count, because it is the resolver's own limit.
func timedOut(err error) bool {
	var name *net.DNSError
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout() && !errors.As(err, &name)
}

// slowness returns the error text of an attempt that reached its timeout in the given stage.
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
		return "the receiver did not read the request" + within
	default:
		return "the receiver did not answer" + within
	}
}

// explain returns the error text of an attempt that got no response.
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
	case errors.As(err, &op) && op.Op == "remote error": // a TLS alert of the receiver, whose type is unexported
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
	// net/http has no types for the next two errors. Tests detect changes of their texts.
	case strings.Contains(text, "headers exceeded"):
		return textHeader
	case strings.Contains(text, "server closed idle connection"):
		return textClosed
	case closed(err):
		return textClosed
	case errors.As(err, &op) && op.Op == "remote error":
		// In TLS 1.3 the receiver may reject the handshake after the sender has finished it, so the alert arrives here.
		return textAlert
	default:
		return textNoHTTP
	}
}

func closed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}
