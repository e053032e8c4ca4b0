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

// The ways to log in, as the setting names them.
const (
	loginNone     = ""
	loginPlain    = "plain"
	loginScram256 = "scram-sha-256"
	loginScram512 = "scram-sha-512"
)

// secure is how connections to brokers are made: all of them, by the writer, the
// reader and whoever asks about topics.
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
			faults = append(faults, config.Invalid("sasl", "a user or a password is set, but not how to log in: scram-sha-512, scram-sha-256 or plain"))
		}
	case loginPlain, loginScram256, loginScram512:
		if s.Username == "" {
			faults = append(faults, config.Invalid("username", "a login needs a user"))
		}
		if !s.Password.IsSet() {
			faults = append(faults, config.Invalid("password", "a login needs a password; the environment has it as VAYU_EVENT_LOG_PASSWORD"))
		}
		if s.SASL == loginPlain && !s.TLS {
			faults = append(faults, config.Invalid("sasl", "plain sends the password as it is, and needs event-log.tls"))
		}
	default:
		faults = append(faults, config.Invalid("sasl", "%q is none of scram-sha-512, scram-sha-256 and plain", s.SASL))
	}
	return faults
}

// secure reads the files. The settings are valid.
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
		// Not what the library says: it may quote the text.
		return secure{}, config.Invalid("password", "the user's name or the password has characters that no login may have (RFC 4013)")
	}
	return out, nil
}

// tlsConfig speaks TLS 1.3, and 1.2 with brokers that know no better. The
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
			return nil, config.Invalid("ca", "there is no certificate in PEM in %s", s.CA)
		}
	}
	if s.Cert == "" {
		return out, nil
	}
	if _, err := tls.LoadX509KeyPair(s.Cert, s.Key); err != nil {
		return nil, config.Invalid("cert", "reading it and its key: %w", err)
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

// dial opens a connection to a broker, with TLS where there is TLS. The client's
// own way to speak TLS leaves the connection of a handshake that failed open.
//
// The context is that of the whole of connecting, which goes on with the login,
// for which the client knows no time-out: the connection of a login that takes too
// long is closed here. The end of a login that was made only cancels the context.
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
			_ = conn.Close() // it was never used
			return nil, handshakeError{address, err}
		}
		conn = secured
	}
	context.AfterFunc(ctx, func() {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			_ = conn.Close() // nobody has got it
		}
	})
	return conn, nil
}

// handshakeError is why TLS with a broker did not come about.
type handshakeError struct {
	address string
	err     error
}

// Error implements error.
func (e handshakeError) Error() string { return fmt.Sprintf("TLS with %s: %v", e.address, e.err) }

// Unwrap is what crypto/tls said.
func (e handshakeError) Unwrap() error { return e.err }
