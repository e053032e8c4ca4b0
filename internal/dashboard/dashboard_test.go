package dashboard

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"vayu/internal/httpapi"
	"vayu/internal/httpapi/httpapitest"
)

func newHandler(t *testing.T, dist fstest.MapFS) http.Handler {
	t.Helper()
	open, err := handlers(dist)
	if err != nil {
		t.Fatal(err)
	}
	h, err := httpapi.New(httpapi.Config{Open: open})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func request(h http.Handler, method, path string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, http.NoBody)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

var dist = fstest.MapFS{
	"index.html":          {Data: []byte("<!doctype html>the page")},
	"docs.html":           {Data: []byte("<!doctype html>the reference")},
	"icon.svg":            {Data: []byte("<svg/>")},
	"assets/app-1a2b.js":  {Data: []byte(strings.Repeat("script();", 500))},
	"assets/app-1a2b.css": {Data: []byte("b{}")},
	".gitkeep":            {},
}

func TestFilesAndPlacesOfThePage(t *testing.T) {
	t.Parallel()
	h := newHandler(t, dist)
	for path, want := range map[string]struct {
		status             int
		typed, cache, text string
	}{
		"/dashboard":                     {302, "", "", ""},
		"/dashboard/":                    {200, "text/html; charset=utf-8", "no-cache", "the page"},
		"/docs":                          {200, "text/html; charset=utf-8", "no-cache", "the reference"},
		"/dashboard/docs.html":           {404, "application/json", "no-store", `"not_found"`},
		"/dashboard/index.html":          {200, "text/html; charset=utf-8", "no-cache", "the page"},
		"/dashboard/air/New%20Delhi":     {200, "text/html; charset=utf-8", "no-cache", "the page"},
		"/dashboard/air/St.%20Thomas":    {200, "text/html; charset=utf-8", "no-cache", "the page"},
		"/dashboard/icon.svg":            {200, "image/svg+xml", "no-cache", "<svg/>"},
		"/dashboard/assets/app-1a2b.js":  {200, "text/javascript; charset=utf-8", forGood[0], "script"},
		"/dashboard/assets/app-9999.js":  {404, "application/json", "no-store", `"not_found"`},
		"/dashboard/assets/app":          {404, "application/json", "no-store", `"not_found"`},
		"/dashboard/.gitkeep":            {404, "application/json", "no-store", `"not_found"`},
		"/dashboard/v1":                  {404, "application/json", "no-store", `"not_found"`},
		"/dashboard/v1/aqi":              {404, "application/json", "no-store", `"not_found"`},
		"/dashboard/..%2f..%2fgo.mod":    {404, "application/json", "no-store", `"not_found"`},
		"/dashboardx":                    {404, "application/json", "no-store", `"not_found"`},
		"/dashboard/assets/app-1a2b.css": {200, "text/css; charset=utf-8", forGood[0], "b{}"},
	} {
		t.Run(path, func(t *testing.T) {
			got := request(h, http.MethodGet, path)
			head := got.Header()
			switch {
			case got.Code != want.status:
				t.Errorf("Code = %v, want %v", got.Code, want.status)
			case head.Get("Content-Type") != want.typed:
				t.Errorf("head.Get(\"Content-Type\") = %v, want %v", head.Get("Content-Type"), want.typed)
			case head.Get("Cache-Control") != want.cache:
				t.Errorf("head.Get(\"Cache-Control\") = %v, want %v", head.Get("Cache-Control"), want.cache)
			case !strings.Contains(got.Body.String(), want.text):
				t.Errorf("Body.String() = %q, want %q in it", got.Body.String(), want.text)
			}
			if policy := head.Get("Content-Security-Policy"); want.status == 200 && !strings.HasPrefix(policy, "default-src 'none'; script-src 'self';") {
				t.Errorf("the policy %q", policy)
			}
			if again := request(h, http.MethodGet, path, "If-None-Match", head.Get("Etag")); want.status == 200 && again.Code != http.StatusNotModified {
				t.Errorf("revalidation: %d", again.Code)
			}
		})
	}
	if got := request(h, http.MethodPost, "/dashboard/"); got.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", got.Code)
	}
	packed := request(h, http.MethodGet, "/dashboard/assets/app-1a2b.js", "Accept-Encoding", "gzip")
	z, err := gzip.NewReader(packed.Body)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(z); err != nil || !bytes.Equal(text, dist["assets/app-1a2b.js"].Data) {
		t.Errorf("compressed: %d bytes, %v", len(text), err)
	}
}

// The policy of the reference differs from that of the dashboard in inline styles only. Scripts and requests do not.
func TestDocsLoadNothingFromOtherHosts(t *testing.T) {
	t.Parallel()
	h := httpapitest.Checked(t, newHandler(t, dist))
	dashboard := request(h, http.MethodGet, "/dashboard/").Header().Get("Content-Security-Policy")
	policy := request(h, http.MethodGet, "/docs").Header().Get("Content-Security-Policy")
	if got := strings.Replace(policy, "style-src 'self' 'unsafe-inline'", "style-src 'self'", 1); got != dashboard || got == policy {
		t.Errorf("got the policy %q, want that of the dashboard, %q, with inline styles", policy, dashboard)
	}
}

func TestFreshCheckoutShowsBuildCommand(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/dashboard/", "/docs"} {
		got := request(newHandler(t, fstest.MapFS{".gitkeep": {}}), http.MethodGet, path)
		if got.Code != http.StatusOK || !strings.Contains(got.Body.String(), "make build") || got.Header().Get("Content-Security-Policy") == "" {
			t.Errorf("%s: %d %s", path, got.Code, got.Body)
		}
	}
	if _, err := New(); err != nil {
		t.Error(err)
	}
	if _, err := handlers(fstest.MapFS{"a.strange": {}}); err == nil {
		t.Error("a file of no known type is served")
	}
}
