package broker

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/plain"
	"github.com/segmentio/kafka-go/sasl/scram"

	"vayu/internal/config"
)

const (
	loginNone = ""
	// LoginPlain selects SASL PLAIN, which sends the password in clear text.
	LoginPlain = "plain"
	// LoginScram256 selects SASL SCRAM-SHA-256 (RFC 7677).
	LoginScram256 = "scram-sha-256"
	// LoginScram512 selects SASL SCRAM-SHA-512.
	LoginScram512 = "scram-sha-512"
)

// Security has the TLS configuration and the login of all connections to brokers.
type Security struct {
	TLS   *tls.Config    // nil for none
	Login sasl.Mechanism // nil for none
}

func (s Settings) checkTLS(f *config.Faults) {
	for _, file := range []struct{ key, name string }{{"ca", s.CA}, {"cert", s.Cert}, {"key", s.Key}} {
		f.Check(bool(s.TLS) || file.name == "", file.key, "is of no use without TLS: set event-log.tls to on")
	}
	f.Check(s.Cert != "" || s.Key == "", "cert", "a key is of no use without its certificate")
	f.Check(s.Cert == "" || s.Key != "", "key", "a certificate is of no use without its key")
}

func (s Settings) checkLogin(f *config.Faults) {
	switch s.SASL {
	case loginNone:
		f.Check(s.Username == "" && !s.Password.IsSet(), "sasl", "username or password is set without a login mechanism: use scram-sha-512, scram-sha-256 or plain")
	case LoginPlain, LoginScram256, LoginScram512:
		f.Check(s.Username != "", "username", "a login needs a user")
		f.Check(s.Password.IsSet(), "password", "a login needs a password; the environment has it as VAYU_EVENT_LOG_PASSWORD")
		f.Check(s.SASL != LoginPlain || bool(s.TLS), "sasl", "plain sends the password in clear text and needs event-log.tls")
	default:
		f.Check(false, "sasl", "%q must be scram-sha-512, scram-sha-256 or plain", s.SASL)
	}
}

// Security returns the TLS configuration and the login of valid settings. It reads the certificate files that s names.
func (s Settings) Security() (Security, error) {
	var out Security
	var err error
	if s.TLS {
		if out.TLS, err = s.tlsConfig(); err != nil {
			return Security{}, err
		}
	}
	switch s.SASL {
	case LoginPlain:
		out.Login = plain.Mechanism{Username: s.Username, Password: s.Password.Reveal()}
	case LoginScram256:
		out.Login, err = scram.Mechanism(scram.SHA256, s.Username, s.Password.Reveal())
	case LoginScram512:
		out.Login, err = scram.Mechanism(scram.SHA512, s.Username, s.Password.Reveal())
	}
	if err != nil {
		// The library's error is not wrapped, because it may quote the password.
		return Security{}, config.Invalid("password", "the user's name or the password has characters that a login must not have (RFC 4013)")
	}
	return out, nil
}

// tlsConfig returns a configuration for TLS 1.3, or 1.2 with older brokers. The client
// certificate is read for each connection, so that its renewal needs no restart.
func (s Settings) tlsConfig() (*tls.Config, error) {
	out := &tls.Config{MinVersion: tls.VersionTLS12}
	if s.CA != "" {
		text, err := os.ReadFile(s.CA)
		if err != nil {
			return nil, config.Invalid("ca", "%w", err)
		}
		out.RootCAs = x509.NewCertPool()
		if !out.RootCAs.AppendCertsFromPEM(text) {
			return nil, config.Invalid("ca", "%s has no PEM certificate", s.CA)
		}
	}
	if s.Cert == "" {
		return out, nil
	}
	if _, err := tls.LoadX509KeyPair(s.Cert, s.Key); err != nil {
		return nil, config.Invalid("cert", "reading the certificate and its key: %w", err)
	}
	out.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		pair, err := tls.LoadX509KeyPair(s.Cert, s.Key)
		if err != nil {
			return nil, fmt.Errorf("reading event-log.cert and event-log.key: %w", err)
		}
		return &pair, nil
	}
	return out, nil
}

// Dial opens a connection to a broker, with TLS if configured. It makes the handshake itself, because the Kafka client
// would leak the connection of a failed handshake.
//
// The Kafka client does not watch the deadline of ctx during the login, so Dial closes the connection at the deadline.
// The end of ctx by a cancellation does not close it, because the client cancels ctx after the login.
//
// After a failed handshake the error is a HandshakeError, otherwise the error of net.Dialer.
func (s Security) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{Timeout: DialTimeout}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	if s.TLS != nil {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			host = address
		}
		named := s.TLS.Clone()
		named.ServerName = host
		secured := tls.Client(conn, named)
		if err := secured.HandshakeContext(ctx); err != nil {
			_ = conn.Close() // the connection was never used
			return nil, HandshakeError{address, err}
		}
		conn = secured
	}
	context.AfterFunc(ctx, func() {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			_ = conn.Close() // the login has not ended
		}
	})
	return conn, nil
}

// HandshakeError is a failed TLS handshake with a broker.
type HandshakeError struct {
	address string
	err     error
}

// Error implements error.
func (e HandshakeError) Error() string { return fmt.Sprintf("TLS with %s: %v", e.address, e.err) }

// Unwrap returns the error of crypto/tls.
func (e HandshakeError) Unwrap() error { return e.err }
