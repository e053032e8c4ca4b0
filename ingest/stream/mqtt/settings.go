// Package mqtt receives messages from an MQTT broker. It acknowledges a message after its readings are stored. Until
// then the broker keeps the message.
package mqtt

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"time"

	"code.dny.dev/ssrf"
)

// Versions of the protocol, with their numbers in the packet CONNECT.
const (
	Version311 = 4
	Version5   = 5
)

// Settings define the connection to a broker, and the subscriptions.
type Settings struct {
	Address            string // host:port
	TLS                bool
	CA                 string // PEM file of authorities; "" for those of the system
	Cert, Key          string // PEM files of a client certificate; "" for none
	Username, Password string
	ClientID           string // must be constant, because the broker keeps messages for it
	Version            int
	Filters            []string // topic filters of the subscriptions
	// Session is how long the broker stores messages while no client is connected. If it is 0, the broker stores none.
	// In MQTT 3.1.1 the configuration of the broker determines the time.
	Session time.Duration
	// Local permits a broker at an address of a private network.
	Local bool
}

const (
	// dialTimeout bounds the time to make a connection, including TLS.
	dialTimeout = 10 * time.Second
	// packetTimeout bounds the time for a reply of the broker.
	packetTimeout = 10 * time.Second
	// keepAlive is the interval between pings. The client detects a lost connection after 1.5 intervals.
	keepAlive = 30 * time.Second
	// inFlight is the number of unacknowledged messages that the broker may send (receive maximum of MQTT 5). Brokers
	// have smaller limits of their own; Mosquitto's is 20.
	inFlight = 1000
)

// metadata is the address of Azure's metadata service, which is internal but in the public range. So dial denies it.
var metadata = netip.MustParsePrefix("168.63.129.16/32")

// dial opens a connection to the broker.
func (s *Settings) dial(ctx context.Context) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	dialer := &net.Dialer{}
	if !s.Local {
		dialer.Control = ssrf.New(ssrf.WithAnyPort(), ssrf.WithDeniedV4Prefixes(metadata)).Safe
	}
	conn, err := dialer.DialContext(ctx, "tcp", s.Address)
	if err != nil || !s.TLS {
		return conn, err
	}
	config, err := s.tlsConfig()
	if err != nil {
		_ = conn.Close() // it was never used
		return nil, err
	}
	secured := tls.Client(conn, config)
	if err := secured.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("TLS with %s: %w", s.Address, err)
	}
	return secured, nil
}

// tlsConfig reads the certificates again for each connection, so that renewed certificates need no restart.
func (s *Settings) tlsConfig() (*tls.Config, error) {
	host, _, err := net.SplitHostPort(s.Address)
	if err != nil {
		return nil, fmt.Errorf("reading the broker's address: %w", err)
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: host}
	if s.CA != "" {
		text, err := os.ReadFile(s.CA)
		if err != nil {
			return nil, fmt.Errorf("reading mqtt.ca: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(text) {
			return nil, errors.New("reading mqtt.ca: the file has no PEM certificate")
		}
	}
	if s.Cert != "" {
		pair, err := tls.LoadX509KeyPair(s.Cert, s.Key)
		if err != nil {
			return nil, fmt.Errorf("reading mqtt.cert and mqtt.key: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}
