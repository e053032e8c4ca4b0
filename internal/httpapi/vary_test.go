package httpapi_test

import (
	"net/http"
	"strings"
	"testing"
)

func TestCachesMayNotShareTheRepliesOfKeys(t *testing.T) {
	t.Parallel()
	base, _ := worldsAPI(t)
	for path, want := range map[string]string{"/v1/ready": "Authorization", "/v1/big": "Authorization, Accept-Encoding"} {
		resp, _ := request(t, http.MethodGet, base, path)
		if got := strings.Join(resp.Header.Values("Vary"), ", "); got != want {
			t.Errorf("%s: Vary %q, want %q", path, got, want)
		}
	}
}

// TestEveryReplyVariesByItsCredential includes a 304, an error and an unknown path.
func TestEveryReplyVariesByItsCredential(t *testing.T) {
	t.Parallel()
	base, _ := worldsAPI(t)
	ready, _ := request(t, http.MethodGet, base, "/v1/ready")
	for name, c := range map[string]struct {
		method, path string
		headers      []string
		status       int
		want         string
	}{
		"not modified":       {"GET", "/v1/ready", []string{"If-None-Match", ready.Header.Get("ETag")}, 304, "Authorization"},
		"HEAD":               {"HEAD", "/v1/ready", nil, 200, "Authorization"},
		"no key":             {"GET", "/v1/ready", []string{"Authorization", ""}, 401, "Authorization"},
		"unknown path":       {"GET", "/v1/nothing", nil, 404, "Authorization"},
		"unknown method":     {"DELETE", "/v1/ready", nil, 405, "Authorization"},
		"not acceptable":     {"GET", "/v1/ready", []string{"Accept", "text/html"}, 406, "Authorization"},
		"panic":              {"GET", "/v1/panic", nil, 500, "Authorization"},
		"a session":          {"GET", "/dashboard/v1/nothing", nil, 404, "Cookie"},
		"a foreign session":  {"POST", "/dashboard/v1/world", []string{"Sec-Fetch-Site", "cross-site"}, 403, "Cookie"},
		"outside of the API": {"GET", "/healthz", nil, 200, ""},
	} {
		t.Run(name, func(t *testing.T) {
			resp, _ := request(t, c.method, base, c.path, c.headers...)
			if got := strings.Join(resp.Header.Values("Vary"), ", "); resp.StatusCode != c.status || got != c.want {
				t.Errorf("got %d, Vary %q; want %d, %q", resp.StatusCode, got, c.status, c.want)
			}
		})
	}
}
