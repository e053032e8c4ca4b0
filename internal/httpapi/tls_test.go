package httpapi_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/httpapi"
	"vayu/internal/httpapi/httpapitest"
	"vayu/internal/httpapi/server"
	"vayu/internal/testing/fixture"
)

// certify writes a self-signed certificate for localhost into the files of c and returns it in PEM.
func certify(tb testing.TB, c server.TLSConfig, serial int64, until time.Time) []byte {
	tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "localhost"}, DNSNames: []string{"localhost"},
		NotBefore: until.AddDate(-1, 0, 0), NotAfter: until, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		tb.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		tb.Fatal(err)
	}
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	write(tb, c.Key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}))
	write(tb, c.Cert, cert)
	return cert
}

func write(tb testing.TB, name string, text []byte) {
	tb.Helper()
	if err := os.WriteFile(name, text, 0o600); err != nil {
		tb.Fatal(err)
	}
}

func files(tb testing.TB) server.TLSConfig {
	tb.Helper()
	dir := tb.TempDir()
	return server.TLSConfig{Cert: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem")}
}

// secured serves the test API over TLS and returns its address and the client's settings.
func secured(t *testing.T, reg prometheus.Registerer) (address string, client *tls.Config) {
	t.Helper()
	c := files(t)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(certify(t, c, 1, time.Now().AddDate(1, 0, 0)))
	certs, err := c.Open(nil, reg, "")
	if err != nil {
		t.Fatal(err)
	}
	address = serve(t, testAPI(t, httpapitest.Keys{liveKey, sandboxKey}), withTLS(t, certs, reg))
	return address, &tls.Config{RootCAs: roots, ServerName: "localhost", MinVersion: tls.VersionTLS12}
}

func withTLS(tb testing.TB, certs *server.Certificates, reg prometheus.Registerer) func(net.Listener) net.Listener {
	tb.Helper()
	return func(l net.Listener) net.Listener {
		return server.NewListener(l, certs.Config(), reg, server.Connections{})
	}
}

func TestEveryRequestGetsTheContractsAnswerOverTLS(t *testing.T) {
	t.Parallel()
	address, client := secured(t, nil)
	for name, c := range rawRequests() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn := tls.Client(dial(t, address), client)
			if diff := cmp.Diff(strings.Split(c[1], "; "), exchangeRaw(t, conn, c[0])); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTLSVersionAndHSTS(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewRegistry()
	address, client := secured(t, reg)
	for _, protocol := range [...]string{"HTTP/1.1", "HTTP/2.0"} {
		transport := &http.Transport{TLSClientConfig: client.Clone(), ForceAttemptHTTP2: protocol == "HTTP/2.0"}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://"+address+"/v1/keys", strings.NewReader(`{"a":1}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+sandboxKey)
		r.Header.Set("Content-Type", "application/json")
		resp, err := transport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		transport.CloseIdleConnections()
		got := []string{resp.Proto, resp.Status, string(body), tls.VersionName(resp.TLS.Version)}
		for _, name := range [...]string{"Strict-Transport-Security", "X-Service-Version", "X-Service-Mode", "X-Content-Type-Options"} {
			got = append(got, resp.Header.Get(name))
		}
		want := []string{protocol, "200 OK", `{"bytes":7}`, "TLS 1.3", "max-age=31536000", httpapi.Version, "sandbox", "nosniff"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", protocol, diff)
		}
	}
	old := client.Clone()
	old.MaxVersion = tls.VersionTLS12
	if err := tls.Client(dial(t, address), old).Handshake(); err == nil || !strings.Contains(err.Error(), "protocol version") {
		t.Errorf("a client of TLS 1.2 met %v", err)
	}
	if diff := cmp.Diff([]string{"400 net/http"}, exchangeRaw(t, dial(t, address), "GET /v1/aqi HTTP/1.1\r\nHost: a\r\n\r\n")); diff != "" {
		t.Errorf("plain HTTP: %s", diff)
	}
	// The client learns of a failure before the server counts it.
	fixture.Eventually(t, "two failures are counted", func() bool { return fixture.MetricValue(t, reg, "vayu_tls_handshake_failures_total") == 2 })
	resp, err := http.Get("http://" + serve(t, testAPI(t, httpapitest.Keys{liveKey, sandboxKey}), plain(t)) + "/v1/aqi") //nolint:noctx // the test has no deadline of its own
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.Header.Get("Strict-Transport-Security") != "" {
		t.Error("plain HTTP promises TLS")
	}
}

func TestCertificatesAreReloaded(t *testing.T) {
	t.Parallel()
	c := files(t)
	synctest.Test(t, func(t *testing.T) {
		until := time.Now().Add(1000 * time.Hour).Truncate(time.Second)
		first := certify(t, c, 1, until)
		var log bytes.Buffer
		reg := prometheus.NewRegistry()
		certs, err := c.Open(slog.New(slog.NewTextHandler(&log, nil)), reg, "")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- certs.Run(ctx) }()
		serial := func() int64 {
			time.Sleep(6 * time.Second) // of the bubble
			synctest.Wait()
			got, err := certs.Config().GetCertificate(&tls.ClientHelloInfo{})
			if err != nil {
				t.Fatal(err)
			}
			return got.Leaf.SerialNumber.Int64()
		}
		certify(t, c, 2, until.Add(time.Hour))
		if got := serial(); got != 2 {
			t.Errorf("serial %d after the files changed", got)
		}
		write(t, c.Cert, first) // does not match the key
		serial()
		if got := serial(); got != 2 {
			t.Errorf("serial %d with a bad pair", got)
		}
		os.Remove(c.Key)
		serial()
		if got := serial(); got != 2 {
			t.Errorf("serial %d without a key", got)
		}
		certify(t, c, 3, until)
		if got := serial(); got != 3 {
			t.Errorf("serial %d after mending", got)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if n := strings.Count(log.String(), "reloading the certificate failed"); n != 2 {
			t.Errorf("two invalid pairs are logged %d times:\n%s", n, log.String())
		}
		if got := fixture.MetricValue(t, reg, "vayu_tls_certificate_failures_total"); got != 2 {
			t.Errorf("%v failures counted, want 2", got)
		}
		if got := fixture.MetricValue(t, reg, "vayu_tls_certificate_expiry_seconds"); got != float64(until.Unix()) {
			t.Errorf("expiry %v, want %d", got, until.Unix())
		}
	})
}

func TestSettingsOfTLS(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		server.TLSConfig
		want string
	}{
		"none":               {server.TLSConfig{}, ""},
		"files":              {server.TLSConfig{Cert: "c", Key: "k"}, ""},
		"ACME":               {server.TLSConfig{Domains: []string{"air.example.in"}, Email: "a@example.in", Directory: "https://ca.example"}, ""},
		"no key":             {server.TLSConfig{Cert: "c"}, "key: a certificate is of no use without its key"},
		"no certificate":     {server.TLSConfig{Key: "k"}, "cert: a key is of no use without its certificate"},
		"both":               {server.TLSConfig{Cert: "c", Key: "k", Domains: []string{"a.in"}}, "acme-domains: certificates come from files or by ACME, not both"},
		"ACME without names": {server.TLSConfig{Email: "a@b.in"}, "acme-domains: a name is needed for ACME"},
		"an address":         {server.TLSConfig{Domains: []string{"10.0.0.1"}}, `acme-domains: "10.0.0.1" is not the full name of a host, in lower case; others than English are written xn--…`},
		"every name":         {server.TLSConfig{Domains: []string{"*.a.in"}}, `acme-domains: "*.a.in" is not the full name of a host, in lower case; others than English are written xn--…`},
		"plain directory":    {server.TLSConfig{Domains: []string{"a.in"}, Directory: "http://ca"}, "acme-directory: must begin with https://"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, err := range c.Validate() {
				got = append(got, err.Error())
			}
			if diff := cmp.Diff(c.want, strings.Join(got, "\n")); diff != "" {
				t.Error(diff)
			}
		})
	}
	c := files(t)
	if _, err := c.Open(nil, nil, ""); err == nil || !strings.Contains(err.Error(), c.Cert) {
		t.Errorf("files that are not there: %v", err)
	}
	write(t, c.Cert, []byte("x"))
	write(t, c.Key, []byte("y"))
	if _, err := c.Open(nil, nil, ""); err == nil || !strings.Contains(err.Error(), c.Cert) {
		t.Errorf("files without a certificate: %v", err)
	}
}
