package server

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"

	"vayu/internal/config"
)

const (
	// reloadInterval is the interval at which Run checks whether the certificate files changed.
	// Each check reads the files, which have a few kilobytes.
	reloadInterval = 5 * time.Second
	// acmeFirstRetry is the delay before the first retry to obtain certificates. It is shorter than acmeRetry, because
	// the first attempt may have failed only because the port was not open yet. It exceeds a minute, because autocert
	// does not retry earlier.
	acmeFirstRetry = 70 * time.Second
	// acmeRetry is the delay before each later retry. Let's Encrypt allows five failed validations
	// of a name per hour (letsencrypt.org/docs/rate-limits).
	acmeRetry = 15 * time.Minute
	// acmeMetricInterval is the interval at which Run updates the metric of the certificate expiry. Package autocert
	// renews certificates in the background and does not update the metric.
	acmeMetricInterval = time.Hour
)

// Certificates provides the TLS certificates of the API. [TLSConfig.Open] returns one.
type Certificates struct {
	config   TLSConfig
	log      *slog.Logger
	failures prometheus.Counter
	expiry   prometheus.Gauge
	manager  *autocert.Manager // nil if certificates come from files
	current  atomic.Pointer[tls.Certificate]
	seen     config.KeyPair // content of the files when they were last read, valid or not

	mu       sync.Mutex
	expiries map[string]time.Time // expiry of each ACME certificate, by host name
	failed   map[string]bool      // host names for which the last attempt failed
}

// Config returns the TLS settings: TLS 1.3 only, HTTP/2 and HTTP/1.1 (with ACME also acme-tls/1), and the certificates.
func (s *Certificates) Config() *tls.Config {
	c := &tls.Config{MinVersion: tls.VersionTLS13, NextProtos: []string{"h2", "http/1.1"}, GetCertificate: s.get}
	if s.manager != nil {
		c.NextProtos = append(c.NextProtos, acme.ALPNProto)
	}
	return c
}

// use makes p the certificate and key of new connections. If the certificate has expired, it only logs a warning.
func (s *Certificates) use(p config.KeyPair) error {
	s.seen = p
	c, err := tls.X509KeyPair(p.Cert, p.Key)
	if err != nil {
		return fmt.Errorf("reading %s and %s: %w", s.config.Cert, s.config.Key, err)
	}
	if now := time.Now(); now.After(c.Leaf.NotAfter) {
		s.log.Warn("the certificate has expired", "file", s.config.Cert, "expired", c.Leaf.NotAfter)
	}
	s.expiry.Set(float64(c.Leaf.NotAfter.Unix()))
	s.current.Store(&c)
	return nil
}

// get returns the certificate for a handshake, or errNoCertificate. It is the callback tls.Config.GetCertificate.
func (s *Certificates) get(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	if s.manager == nil {
		return s.current.Load(), nil
	}
	if slices.Equal(hello.SupportedProtos, []string{acme.ALPNProto}) {
		return s.manager.GetCertificate(hello)
	}
	name := strings.ToLower(strings.TrimSuffix(hello.ServerName, "."))
	if name == "" { // the client has connected by IP address
		name = s.config.Domains[0]
	}
	if !slices.Contains(s.config.Domains, name) {
		return nil, errNoCertificate
	}
	s.mu.Lock()
	failed := s.failed[name]
	s.mu.Unlock()
	if failed { // only Run retries, so that clients cannot use up the authority's rate limit
		return nil, errNoCertificate
	}
	return s.obtain(name)
}

// obtain returns the certificate of a name from memory, from the cache directory, or from the
// authority, which takes seconds. Package autocert keeps an ECDSA and an RSA certificate per name,
// and chooses by the client's algorithms. Every client of TLS 1.3 supports ECDSA (RFC 8446, 9.1).
// Therefore obtain always passes ECDSA to autocert, so that autocert requests only one certificate.
func (s *Certificates) obtain(name string) (*tls.Certificate, error) {
	c, err := s.manager.GetCertificate(&tls.ClientHelloInfo{
		ServerName: name, SignatureSchemes: []tls.SignatureScheme{tls.ECDSAWithP256AndSHA256},
		SupportedCurves: []tls.CurveID{tls.CurveP256}, CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256},
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed[name] = err != nil
	if err != nil {
		s.failures.Inc()
		return nil, err
	}
	if s.expiries[name] != c.Leaf.NotAfter {
		s.expiries[name] = c.Leaf.NotAfter
		first := c.Leaf.NotAfter
		for _, t := range s.expiries {
			if t.Before(first) {
				first = t
			}
		}
		s.expiry.Set(float64(first.Unix()))
	}
	return c, nil
}

// Run keeps certificates current until ctx ends. It reloads files when they change. With ACME it obtains certificates
// before the first client needs them. Start Run after the listener, because the authority connects to the listener.
func (s *Certificates) Run(ctx context.Context) error {
	if s.manager != nil {
		return s.runACME(ctx)
	}
	tick := time.NewTicker(reloadInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			s.reload()
		case <-ctx.Done():
			return nil
		}
	}
}

// reload reloads the certificate files if they have changed. An invalid certificate or key is
// logged once, and the current certificate stays in use.
func (s *Certificates) reload() {
	p, err := config.ReadKeyPair(s.config.Cert, s.config.Key)
	if bytes.Equal(p.Cert, s.seen.Cert) && bytes.Equal(p.Key, s.seen.Key) {
		return
	}
	if err == nil {
		err = s.use(p)
	} else {
		s.seen = p
	}
	if err != nil {
		s.failures.Inc()
		s.log.Error("reloading the certificate failed; the previous one stays in use", "error", err)
		return
	}
	s.log.Info("certificate reloaded", "file", s.config.Cert, "expires", s.current.Load().Leaf.NotAfter)
}

func (s *Certificates) runACME(ctx context.Context) error {
	pause := acmeFirstRetry
	for {
		failed := make(chan bool, 1)
		go func() { failed <- s.prepare() }() // autocert cannot be canceled, so this goroutine may outlive runACME
		wait := acmeMetricInterval
		select {
		case f := <-failed:
			if f {
				wait, pause = pause, acmeRetry
			}
		case <-ctx.Done():
			return nil
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil
		}
	}
}

// prepare obtains the certificate of every name. It returns true if any attempt failed.
func (s *Certificates) prepare() (failed bool) {
	for _, name := range s.config.Domains {
		if _, err := s.obtain(name); err != nil {
			failed = true
			s.log.Error("obtaining a certificate", "name", name, "error", err)
		}
	}
	return failed
}
