package apidoc_test

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/apidoc"
	"vayu/internal/httpapi"
	"vayu/internal/httpapi/httpapitest"
	"vayu/internal/httpapi/server"
)

func request(t *testing.T, method, path string, headers ...string) (*http.Response, string) {
	t.Helper()
	pages, err := apidoc.New()
	if err != nil {
		t.Fatal(err)
	}
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
	resp, body := request(t, http.MethodGet, "/openapi.json")
	if diff := cmp.Diff(string(want), body); diff != "" || resp.Header.Get("Content-Type") != "application/json" {
		t.Errorf("%s %v", diff, resp.Header)
	}
	var document struct {
		OpenAPI string                    `json:"openapi"`
		Paths   map[string]map[string]any `json:"paths"`
	}
	if err := json.Unmarshal([]byte(body), &document); err != nil || document.OpenAPI != "3.1.0" || document.Paths["/v1/aqi"]["get"] == nil {
		t.Errorf("%v: %.200s", err, body)
	}
	if strings.Contains(body, ".yaml#") {
		t.Error("a reference leads out of the document")
	}
}

func TestPagesAreCacheable(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/docs", "/openapi.json"} {
		full, body := request(t, http.MethodGet, path)
		packed, bytes := request(t, http.MethodGet, path, "Accept-Encoding", "br, gzip;q=0.5")
		z, err := gzip.NewReader(strings.NewReader(bytes))
		if err != nil {
			t.Fatal(err)
		}
		plain, err := io.ReadAll(z)
		if err != nil || string(plain) != body || packed.Header.Get("Content-Encoding") != "gzip" {
			t.Errorf("%s: the compressed page differs: %v", path, err)
		}
		if packed.Header.Get("ETag") == full.Header.Get("ETag") {
			t.Errorf("%s: two forms share a strong ETag", path)
		}
		for _, tag := range []string{full.Header.Get("ETag"), packed.Header.Get("ETag"), `"x", W/` + full.Header.Get("ETag"), "*"} {
			resp, body := request(t, http.MethodGet, path, "If-None-Match", tag)
			if resp.StatusCode != http.StatusNotModified || body != "" || resp.Header.Get("Content-Type") != "" {
				t.Errorf("%s, %s: %d %v", path, tag, resp.StatusCode, resp.Header)
			}
		}
		for _, headers := range [][]string{{"If-None-Match", `"x"`}, {"Accept-Encoding", "gzip;q=0"}, {"Accept-Encoding", "gzip;q=x"}} {
			if resp, again := request(t, http.MethodGet, path, headers...); resp.StatusCode != http.StatusOK || again != body {
				t.Errorf("%s, %s: %d", path, headers, resp.StatusCode)
			}
		}
		if resp, body := request(t, http.MethodHead, path); body != "" || resp.Header.Get("Content-Length") != full.Header.Get("Content-Length") {
			t.Errorf("%s: HEAD: %q %v", path, body, resp.Header)
		}
	}
}

// TestPagesMatchTheContract uses a whole service, whose router adds headers.
func TestPagesMatchTheContract(t *testing.T) {
	t.Parallel()
	pages, err := apidoc.New()
	if err != nil {
		t.Fatal(err)
	}
	h, err := httpapi.New(httpapi.Config{Open: pages, Access: httpapitest.Keys{}, Metrics: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	service := httptest.NewUnstartedServer(nil)
	if service.Listener, err = server.NewListener(service.Listener, nil, nil, server.Connections{}); err != nil {
		t.Fatal(err)
	}
	service.Config = server.New(h, nil)
	service.Start()
	defer service.Close()
	client := http.Client{Transport: httpapitest.Transport(t, nil)}
	for path := range pages {
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
					t.Errorf("%s %s: %d bytes, %v", method, path, resp.ContentLength, resp.Header)
				}
				if resp.Header.Get("X-Content-Type-Options") != "nosniff" {
					t.Errorf("%s %s: %v", method, path, resp.Header)
				}
			}
		}
	}
}

// TestPageLoadsNothing: no external requests, no script, and a policy that allows only its own
// style.
func TestPageLoadsNothing(t *testing.T) {
	t.Parallel()
	resp, body := request(t, http.MethodGet, "/docs")
	for _, wrong := range []string{"<script", "javascript:", " src=", "@import", "url(", `href="http`, " style="} {
		if strings.Contains(body, wrong) {
			t.Errorf("the page has %q", wrong)
		}
	}
	_, style, _ := strings.Cut(body, "<style>")
	style, _, _ = strings.Cut(style, "</style>")
	sum := sha256.Sum256([]byte(style))
	policy := resp.Header.Get("Content-Security-Policy")
	if !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'") {
		t.Errorf("the policy %q does not fit the page", policy)
	}
}

func TestThePageHasEverything(t *testing.T) {
	t.Parallel()
	_, body := request(t, http.MethodGet, "/docs")
	document, err := apidoc.Document()
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Paths    map[string]map[string]json.RawMessage `json:"paths"`
		Webhooks map[string]json.RawMessage            `json:"webhooks"`
	}
	if err := json.Unmarshal(document, &d); err != nil {
		t.Fatal(err)
	}
	for name := range d.Webhooks {
		if want := `<span class="path">` + name + `</span>`; strings.Count(body, want) < 2 {
			t.Errorf("the page lacks %s", name)
		}
	}
	for path, methods := range d.Paths {
		for method := range methods {
			if want := `>` + strings.ToUpper(method) + `</span> <span class="path">` + path + `</span>`; method != "parameters" && strings.Count(body, want) < 2 {
				t.Errorf("the page lacks %s %s", method, path)
			}
		}
	}
	var ids []string
	for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(body, -1) {
		if slices.Contains(ids, m[1]) {
			t.Errorf("two places are called %s", m[1])
		}
		ids = append(ids, m[1])
	}
	for _, m := range regexp.MustCompile(`(?:href="#|aria-labelledby=")([^"]*)"`).FindAllStringSubmatch(body, -1) {
		if !slices.Contains(ids, m[1]) {
			t.Errorf("a link leads to %q, which is not there", m[1])
		}
	}
	for _, empty := range []string{"<p></p>", "<code></code>", "<dd><p class=\"type\"></p>", "<no value>"} {
		if strings.Contains(body, empty) {
			t.Errorf("the page has %s", empty)
		}
	}
}
