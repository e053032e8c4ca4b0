package httpapi_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/letsencrypt/challtestsrv"
	"github.com/letsencrypt/pebble/v2/ca"
	"github.com/letsencrypt/pebble/v2/db"
	"github.com/letsencrypt/pebble/v2/va"
	"github.com/letsencrypt/pebble/v2/wfe"
	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/httpapi/httpapitest"
	"vayu/internal/httpapi/server"
	"vayu/internal/testing/fixture"
)

const name = "air.example.in"

// authority runs Let's Encrypt's test server. It resolves every name to this machine and port 443
// to port. authority returns the settings for it and the roots for clients.
func authority(t *testing.T, port int) (c server.TLSConfig, trusted *x509.CertPool) {
	t.Helper()
	t.Setenv("PEBBLE_VA_NOSLEEP", "1")
	t.Setenv("PEBBLE_WFE_NONCEREJECT", "0") // by default it rejects some at random
	quiet := log.New(io.Discard, "", 0)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	resolver := free.Addr().String()
	free.Close()
	names, err := challtestsrv.New(challtestsrv.Config{Log: quiet, DNSAddrs: []string{resolver}})
	if err != nil {
		t.Fatal(err)
	}
	names.SetDefaultDNSIPv4("127.0.0.1")
	names.SetDefaultDNSIPv6("")
	go names.Run()
	t.Cleanup(names.Shutdown)
	store := db.NewMemoryStore()
	issuer := ca.New(quiet, store, "", "ecdsa", 0, 1, map[string]ca.Profile{"default": {}})
	front := wfe.New(quiet, store, va.New(quiet, 0, port, true, resolver, store), issuer, []string{"example.in"}, true, false, 0, 0)
	directory := httptest.NewTLSServer(front.Handler())
	t.Cleanup(directory.Close)
	root := filepath.Join(t.TempDir(), "root.pem")
	write(t, root, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: directory.Certificate().Raw}))
	trusted = x509.NewCertPool()
	trusted.AppendCertsFromPEM(issuer.GetRootCert(0).PEM())
	return server.TLSConfig{Domains: []string{name}, Email: "air@example.in", Directory: directory.URL + wfe.DirectoryPath, Root: root}, trusted
}

// TestCertificatesComeByACME is not parallel because the authority reads the environment.
func TestCertificatesComeByACME(t *testing.T) { //nolint:paralleltest // see above
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_, text, _ := net.SplitHostPort(address)
	port, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	c, trusted := authority(t, port)
	data, reg := t.TempDir(), prometheus.NewRegistry()
	certs, err := c.Open(nil, reg, data)
	if err != nil {
		t.Fatal(err)
	}
	serveOn(t, withTLS(t, certs, reg)(l), testAPI(t, httpapitest.Keys{liveKey, sandboxKey}))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- certs.Run(ctx) }()
	// An order may take longer than a client's handshake time-out.
	if _, err := certs.Config().GetCertificate(&tls.ClientHelloInfo{ServerName: name}); err != nil {
		t.Fatal(err)
	}

	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted, ServerName: name, MinVersion: tls.VersionTLS13}, ForceAttemptHTTP2: true, DisableKeepAlives: true}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+address+"/v1/aqi", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+liveKey)
	resp, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	leaf := resp.TLS.PeerCertificates[0]
	if resp.StatusCode != 200 || resp.ProtoMajor != 2 || leaf.PublicKeyAlgorithm != x509.ECDSA {
		t.Errorf("%s %s %s", resp.Status, resp.Proto, leaf.PublicKeyAlgorithm)
	}
	if got := fixture.MetricValue(t, reg, "vayu_tls_certificate_expiry_seconds"); got != float64(leaf.NotAfter.Unix()) || leaf.NotAfter.Before(time.Now()) {
		t.Errorf("expiry %v, want %v", got, leaf.NotAfter)
	}
	if _, err := os.Stat(filepath.Join(data, "acme", name)); err != nil {
		t.Errorf("the certificate was not kept: %v", err)
	}
	for _, requested := range [...]string{"", "other.example.in"} {
		_, err := certs.Config().GetCertificate(&tls.ClientHelloInfo{ServerName: requested})
		if (err == nil) != (requested == "") {
			t.Errorf("requested %q: %v", requested, err)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}

	// A second start contacts no authority.
	c.Directory = "https://127.0.0.1:1/"
	again, err := c.Open(nil, nil, data)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := again.Config().GetCertificate(&tls.ClientHelloInfo{ServerName: "AIR.example.in."})
	if err != nil {
		t.Fatalf("after a new start: %v", err)
	}
	if got, want := kept.Leaf.SerialNumber, leaf.SerialNumber; got.Cmp(want) != 0 {
		t.Errorf("after a new start: the serial number is %v, want %v", got, want)
	}
}

func TestHandshakesDoNotRetryTheAuthority(t *testing.T) {
	t.Parallel()
	requested := 0
	directory := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requested++
		http.Error(w, "no", http.StatusForbidden)
	}))
	defer directory.Close()
	root := filepath.Join(t.TempDir(), "root.pem")
	write(t, root, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: directory.Certificate().Raw}))
	c := server.TLSConfig{Domains: []string{name}, Directory: directory.URL, Root: root}
	reg := prometheus.NewRegistry()
	certs, err := c.Open(nil, reg, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		if _, err := certs.Config().GetCertificate(&tls.ClientHelloInfo{ServerName: name}); err == nil {
			t.Fatal("there is a certificate")
		}
	}
	if got := fixture.MetricValue(t, reg, "vayu_tls_certificate_failures_total"); got != 1 || requested != 1 {
		t.Errorf("%v failures, requested %d times; want 1, 1", got, requested)
	}
}
