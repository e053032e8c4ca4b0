package main

import (
	"bytes"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// newProbeServer serves the two probe pages only.
func newProbeServer(tb testing.TB, secure bool) *httptest.Server {
	tb.Helper()
	pages := http.NewServeMux()
	pages.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	pages.HandleFunc("/readyz", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte("{\"status\":\n\"draining\"}"))
	})
	pages.HandleFunc("/away", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/healthz", http.StatusFound) })
	server := httptest.NewUnstartedServer(pages)
	if secure {
		server.StartTLS()
	} else {
		server.Start()
	}
	tb.Cleanup(server.Close)
	return server
}

// runProbe runs `vayu probe` and returns what it prints, and its error. A busy machine may take
// more than the default of 3 s for a handshake; args may have a shorter time-out.
func runProbe(tb testing.TB, args ...string) (string, error) {
	tb.Helper()
	root := newRoot()
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetArgs(append([]string{"probe", "--timeout", "1m"}, args...))
	err := root.ExecuteContext(tb.Context())
	return out.String(), err
}

// Container engines read the exit status, and people the one line.
func TestProbe(t *testing.T) {
	t.Parallel()
	plain, secure := newProbeServer(t, false), newProbeServer(t, true)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	address := strings.TrimPrefix(plain.URL, "http://")
	for name, c := range map[string]struct {
		args []string
		want string // in the line, or in the error
		fail bool
	}{
		"lives":                  {args: []string{plain.URL}, want: "/healthz answered in"},
		"the page is named":      {args: []string{plain.URL + "/healthz"}, want: ": ok"},
		"beside":                 {args: []string{"--listen", address}, want: plain.URL + "/healthz answered"},
		"is not ready":           {args: []string{"--ready", plain.URL}, want: `503 Service Unavailable: {"status": "draining"}`, fail: true},
		"is not followed":        {args: []string{plain.URL + "/away"}, want: "302 Found", fail: true},
		"unknown authority":      {args: []string{secure.URL}, want: "certificate", fail: true},
		"authority of its own":   {args: []string{"--ca", ca, secure.URL}, want: ": ok"},
		"certificate unchecked":  {args: []string{"--insecure", secure.URL}, want: ": ok"},
		"authority is not there": {args: []string{"--ca", ca + ".no", secure.URL}, want: "reading --ca", fail: true},
		"no URL":                 {args: []string{"127.0.0.1:1"}, want: "is not a URL such as", fail: true},
		"no listener":            {args: []string{"http://127.0.0.1:1"}, want: "refused", fail: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := runProbe(t, c.args...)
			if err != nil {
				got = err.Error()
			}
			if (err != nil) != c.fail || !strings.Contains(got, c.want) {
				t.Errorf("got %q, error %v; want %q, failure %v", got, err, c.want, c.fail)
			}
			if strings.Count(got, "\n") > 1 {
				t.Errorf("more than one line: %q", got)
			}
		})
	}
}

// A service that accepts connections and never replies is unhealthy.
func TestProbeIsBounded(t *testing.T) {
	t.Parallel()
	hung := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	t.Cleanup(hung.Close)
	if got, err := runProbe(t, "--timeout", (50 * time.Millisecond).String(), hung.URL); err == nil || !strings.Contains(err.Error(), "deadline") {
		t.Errorf("got %q, error %v; want that the deadline was exceeded", got, err)
	}
}
