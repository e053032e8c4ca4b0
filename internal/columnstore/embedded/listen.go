package embedded

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"strconv"

	"vayu/internal/columnstore/embedded/access"
	"vayu/internal/config"
)

// Listen is a further address of the engine, for the user analyst only.
type Listen struct {
	Address  string `json:"address"`  // host:port, "" for none
	Cert     string `json:"cert"`     // file of the certificate chain in PEM, "" for no TLS; after load, its text
	Key      string `json:"key"`      // file of the key, likewise
	Password string `json:"password"` // of analysts, "" for the generated one
}

// load replaces the names of the files by their contents. The engine's process (see package fence) cannot read them.
func (l *Listen) load() error {
	if l.Cert == "" {
		return nil
	}
	pair, err := config.ReadKeyPair(l.Cert, l.Key)
	l.Cert, l.Key = string(pair.Cert), string(pair.Key)
	return err
}

// port returns the port of the address. Package fence must let the process of the engine listen on that port.
func (l Listen) port() (int, error) {
	_, port, err := net.SplitHostPort(l.Address)
	n, number := strconv.Atoi(port)
	if err = cmp.Or(err, number); err != nil {
		return 0, fmt.Errorf("reading the engine's further address: %w", err)
	}
	return n, nil
}

// open listens at the address, with TLS if there is a certificate.
func (l Listen) open(ctx context.Context) (net.Listener, error) {
	var listen net.ListenConfig
	listener, err := listen.Listen(ctx, "tcp", l.Address)
	if err != nil {
		return nil, fmt.Errorf("listening for analysts: %w", err)
	}
	if l.Cert == "" {
		return listener, nil
	}
	pair, err := tls.X509KeyPair([]byte(l.Cert), []byte(l.Key))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("reading the certificate for analysts: %w", err), listener.Close())
	}
	return tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}), nil
}

// forAnalysts returns a handler that accepts only the user analyst.
func (h *handler) forAnalysts() http.Handler {
	limited := *h
	limited.passwords = maps.Clone(h.passwords)
	delete(limited.passwords, access.Admin)
	return &limited
}
