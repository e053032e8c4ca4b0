package kafka

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

// Login mechanisms, as values of the setting.
const (
	loginNone     = ""
	loginPlain    = "plain"
	loginScram256 = "scram-sha-256"
	loginScram512 = "scram-sha-512"
)

// secure has the TLS configuration and the login of all connections to brokers.
type secure struct {
	tls   *tls.Config    // nil for none
	login sasl.Mechanism // nil for none
}

func (s Settings) validateTLS() (faults []error) {
	if !s.TLS {
		for _, file := range []struct{ key, name string }{{"ca", s.CA}, {"cert", s.Cert}, {"key", s.Key}} {
			if file.name != "" {
				faults = append(faults, config.Invalid(file.key, "is of no use without TLS: set event-log.tls to on"))
			}
		}
	}
	switch {
	case s.Cert == "" && s.Key != "":
		faults = append(faults, config.Invalid("cert", "a key is of no use without its certificate"))
	case s.Cert != "" && s.Key == "":
		faults = append(faults, config.Invalid("key", "a certificate is of no use without its key"))
	}
	return faults
}

func (s Settings) validateLogin() (faults []error) {
	switch s.SASL {
	case loginNone:
		if s.Username != "" || s.Password.IsSet() {
			faults = append(faults, config.Invalid("sasl", "username or password is set without a login mechanism: use scram-sha-512, scram-sha-256 or plain"))
		}
	case loginPlain, loginScram256, loginScram512:
		if s.Username == "" {
			faults = append(faults, config.Invalid("username", "a login needs a user"))
		}
		if !s.Password.IsSet() {
			faults = append(faults, config.Invalid("password", "a login needs a password; the environment has it as VAYU_EVENT_LOG_PASSWORD"))
		}
		if s.SASL == loginPlain && !s.TLS {
			faults = append(faults, config.Invalid("sasl", "plain sends the password in clear text and needs event-log.tls"))
		}
	default:
		faults = append(faults, config.Invalid("sasl", "%q is none of scram-sha-512, scram-sha-256 and plain", s.SASL))
	}
	return faults
}

// secure reads the files of valid settings.
func (s Settings) secure() (secure, error) {
	var out secure
	var err error
	if s.TLS {
		if out.tls, err = s.tlsConfig(); err != nil {
			return secure{}, err
		}
	}
	switch s.SASL {
	case loginPlain:
		out.login = plain.Mechanism{Username: s.Username, Password: s.Password.Reveal()}
	case loginScram256:
		out.login, err = scram.Mechanism(scram.SHA256, s.Username, s.Password.Reveal())
	case loginScram512:
		out.login, err = scram.Mechanism(scram.SHA512, s.Username, s.Password.Reveal())
	}
	if err != nil {
		// Do not wrap the library's error: it may quote the password.
		return secure{}, config.Invalid("password", "the user's name or the password has characters that a login must not have (RFC 4013)")
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

// dial opens a connection to a broker, with TLS if configured. The client's own TLS dial
// leaks the connection of a failed handshake.
//
// The client logs in within ctx but does not watch its deadline, so dial closes the
// connection at the deadline. After a login ctx is cancelled, which has no effect.
func (s secure) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	if s.tls != nil {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			host = address
		}
		named := s.tls.Clone()
		named.ServerName = host
		secured := tls.Client(conn, named)
		if err := secured.HandshakeContext(ctx); err != nil {
			_ = conn.Close() // never used
			return nil, handshakeError{address, err}
		}
		conn = secured
	}
	context.AfterFunc(ctx, func() {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			_ = conn.Close() // not in use yet
		}
	})
	return conn, nil
}

// handshakeError is a failed TLS handshake with a broker.
type handshakeError struct {
	address string
	err     error
}

// Error implements error.
func (e handshakeError) Error() string { return fmt.Sprintf("TLS with %s: %v", e.address, e.err) }

// Unwrap returns the error of crypto/tls.
func (e handshakeError) Unwrap() error { return e.err }
