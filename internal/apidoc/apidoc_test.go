package apidoc_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/apidoc"
	"vayu/internal/httpapi"
	"vayu/internal/httpapi/httpapitest"
	"vayu/internal/httpapi/server"
)

const path = "/openapi.json"

func request(t *testing.T, method string, headers ...string) (*http.Response, string) {
	t.Helper()
	pages := apidoc.New()
	r := httptest.NewRequestWithContext(t.Context(), method, path, http.NoBody)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	pages[path].ServeHTTP(w, r)
	return w.Result(), w.Body.String()
}

func TestTheDocumentIsServedAsItIs(t *testing.T) {
	t.Parallel()
	want, err := apidoc.Document()
	if err != nil {
		t.Fatal(err)
	}
	resp, body := request(t, http.MethodGet)
	if diff := cmp.Diff(string(want), body); diff != "" || resp.Header.Get("Content-Type") != "application/json" {
		t.Errorf("%s %v", diff, resp.Header)
	}
	var document struct {
		OpenAPI string                    `json:"openapi"`
		Paths   map[string]map[string]any `json:"paths"`
	}
	if err := json.Unmarshal([]byte(body), &document); err != nil {
		t.Errorf("%v: %.200s", err, body)
	}
	if document.OpenAPI != "3.1.0" {
		t.Errorf("openapi = %q, want 3.1.0", document.OpenAPI)
	}
	if document.Paths["/v1/aqi"]["get"] == nil {
		t.Errorf("there is no GET of /v1/aqi in %d paths", len(document.Paths))
	}
	if strings.Contains(body, ".yaml#") {
		t.Error("a reference leads out of the document")
	}
}

func TestTheDocumentIsCacheable(t *testing.T) {
	t.Parallel()
	full, body := request(t, http.MethodGet)
	packed, bytes := request(t, http.MethodGet, "Accept-Encoding", "br, gzip;q=0.5")
	plain, err := io.ReadAll(brotli.NewReader(strings.NewReader(bytes)))
	if err != nil {
		t.Errorf("the compressed document: %v", err)
	}
	if diff := cmp.Diff(body, string(plain)); diff != "" {
		t.Errorf("the compressed document differs (-want +got):\n%s", diff)
	}
	if got := packed.Header.Get("Content-Encoding"); got != "br" {
		t.Errorf("Content-Encoding = %q, want br", got)
	}
	if packed.Header.Get("ETag") == full.Header.Get("ETag") {
		t.Errorf("two forms share a strong ETag")
	}
	for _, tag := range []string{full.Header.Get("ETag"), packed.Header.Get("ETag"), `"x", W/` + full.Header.Get("ETag"), "*"} {
		resp, body := request(t, http.MethodGet, "If-None-Match", tag)
		if resp.StatusCode != http.StatusNotModified || body != "" || resp.Header.Get("Content-Type") != "" {
			t.Errorf("%s: %d %v with %d bytes, want 304 without content", tag, resp.StatusCode, resp.Header, len(body))
		}
	}
	for _, headers := range [][]string{{"If-None-Match", `"x"`}, {"Accept-Encoding", "gzip;q=0"}, {"Accept-Encoding", "gzip;q=x"}} {
		resp, again := request(t, http.MethodGet, headers...)
		if resp.StatusCode != http.StatusOK {
			t.Errorf("%s: %d, want 200", headers, resp.StatusCode)
		}
		if diff := cmp.Diff(body, again); diff != "" {
			t.Errorf("%s: another document (-want +got):\n%s", headers, diff)
		}
	}
	if resp, body := request(t, http.MethodHead); body != "" || resp.Header.Get("Content-Length") != full.Header.Get("Content-Length") {
		t.Errorf("HEAD: %q %v", body, resp.Header)
	}
}

// TestTheDocumentMatchesTheContract uses a whole service, whose router adds headers.
func TestTheDocumentMatchesTheContract(t *testing.T) {
	t.Parallel()
	pages := apidoc.New()
	h, err := httpapi.New(httpapi.Config{Open: pages, Access: httpapitest.Keys{}, Metrics: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	service := httptest.NewUnstartedServer(nil)
	service.Listener = server.NewListener(service.Listener, nil, nil, server.Connections{})
	service.Config = server.New(h, nil)
	service.Start()
	defer service.Close()
	client := http.Client{Transport: httpapitest.Transport(t, nil)}
	for _, headers := range [][2]string{{"Accept", "*/*"}, {"Accept-Encoding", "gzip"}, {"Accept-Encoding", "zstd"}, {"If-None-Match", "*"}} {
		for _, method := range [...]string{http.MethodGet, http.MethodHead} {
			r, err := http.NewRequestWithContext(t.Context(), method, service.URL+path, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set(headers[0], headers[1])
			resp, err := client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if headers[0] == "Accept-Encoding" && (resp.Header.Get("Content-Encoding") != headers[1] || resp.ContentLength < 1000) {
				t.Errorf("%s: %d bytes, %v", method, resp.ContentLength, resp.Header)
			}
			if resp.Header.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%s: %v", method, resp.Header)
			}
		}
	}
}
