package server

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"

	"vayu/internal/config"
)

// TLSConfig configures where certificates come from: files, or an ACME authority such as Let's Encrypt. If
// neither is set, the API serves plain HTTP. In the configuration, the settings are below the key "tls".
type TLSConfig struct {
	Cert    string   `yaml:"cert" help:"file of the certificate chain for HTTPS, PEM; reloaded after a change"`
	Key     string   `yaml:"key" help:"file of the certificate's private key, PEM"`
	Domains []string `yaml:"acme-domains" help:"domains of the certificates from ACME; they must lead to port 443 of this service"`
	Email   string   `yaml:"acme-email" help:"address to which the ACME authority sends warnings"`
	// Directory is empty for autocert's default, Let's Encrypt.
	Directory string `yaml:"acme-directory" help:"URL of the ACME directory; empty for Let's Encrypt"`
	Cache     string `yaml:"acme-cache" help:"directory of the ACME account and certificates; acme in the data directory when empty"`
	Root      string `yaml:"acme-root" help:"file of the certificates that the ACME directory's own is checked with, PEM; the system's when empty"`
}

// Enabled reports whether the API serves HTTPS.
func (c TLSConfig) Enabled() bool { return c.Cert != "" || len(c.Domains) > 0 }

// Validate returns one error for every invalid setting. The error names the setting.
func (c TLSConfig) Validate() []error {
	var f config.Faults
	f.Check(c.Cert != "" || c.Key == "", "cert", "a key is of no use without its certificate")
	f.Check(c.Cert == "" || c.Key != "", "key", "a certificate is of no use without its key")
	f.Check(len(c.Domains) == 0 || c.Cert == "" && c.Key == "", "acme-domains", "certificates come from files or by ACME, not both")
	f.Check(len(c.Domains) > 0 || c.Email == "" && c.Directory == "" && c.Cache == "" && c.Root == "", "acme-domains", "a name is needed for ACME")
	for _, name := range c.Domains {
		_, err := netip.ParseAddr(name)
		f.Check(err != nil && strings.Contains(strings.Trim(name, "."), ".") && !strings.ContainsFunc(name, unfit), "acme-domains",
			"%q is not the full name of a host, in lower case; others than English are written xn--…", name)
	}
	f.Check(c.Directory == "" || strings.HasPrefix(c.Directory, "https://"), "acme-directory", "must begin with https://")
	return f
}

func unfit(c rune) bool { return (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '.' }

// Open reads the certificate files, or prepares ACME without contacting the authority. ACME stores the account and the
// certificates in c.Cache or, if c.Cache is empty, in the folder acme of the data directory (the parameter `data`).
func (c TLSConfig) Open(log *slog.Logger, reg prometheus.Registerer, data string) (*Certificates, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	auto := promauto.With(reg)
	s := &Certificates{
		config: c, log: log, expiries: map[string]time.Time{}, failed: map[string]bool{},
		failures: auto.NewCounter(prometheus.CounterOpts{
			Name: "vayu_tls_certificate_failures_total", Help: "Failures to read or obtain a certificate; the previous one stays in use.",
		}),
		expiry: auto.NewGauge(prometheus.GaugeOpts{
			Name: "vayu_tls_certificate_expiry_seconds", Help: "Expiry of the certificate in use, Unix seconds; the earliest of several.",
		}),
	}
	if len(c.Domains) == 0 {
		pair, err := config.ReadKeyPair(c.Cert, c.Key)
		if err != nil {
			return nil, err
		}
		if err := s.use(pair); err != nil {
			return nil, err
		}
		return s, nil
	}
	client, err := c.client()
	if err != nil {
		return nil, err
	}
	cache := c.Cache
	if cache == "" {
		cache = filepath.Join(data, "acme")
	}
	s.manager = &autocert.Manager{
		Prompt: autocert.AcceptTOS, Cache: autocert.DirCache(cache), Email: c.Email, Client: client,
		HostPolicy: autocert.HostWhitelist(c.Domains...),
	}
	return s, nil
}

// client returns an ACME client for the configured authority, or nil for autocert's default client.
func (c TLSConfig) client() (*acme.Client, error) {
	if c.Directory == "" && c.Root == "" {
		return nil, nil
	}
	client := &acme.Client{DirectoryURL: c.Directory}
	if c.Directory == "" {
		client.DirectoryURL = autocert.DefaultACMEDirectory
	}
	if c.Root == "" {
		return client, nil
	}
	text, err := os.ReadFile(c.Root)
	if err != nil {
		return nil, fmt.Errorf("reading the ACME directory's root: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s contains no certificate in PEM", c.Root)
	}
	client.HTTPClient = &http.Client{
		Timeout:   time.Minute,
		Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}},
	}
	return client, nil
}

// errNoCertificate is the error for a host name that the API does not serve, or for which the last attempt to obtain a
// certificate failed.
var errNoCertificate = errors.New("no certificate")
