package api_test

import (
	"net/http"
	"strings"
	"testing"
)

func TestCachesMayNotShareTheRepliesOfKeys(t *testing.T) {
	t.Parallel()
	base, _ := server(t)
	for path, want := range map[string]string{"/v1/ready": "Authorization", "/v1/big": "Authorization, Accept-Encoding"} {
		resp, _ := ask(t, http.MethodGet, base, path)
		if got := strings.Join(resp.Header.Values("Vary"), ", "); got != want {
			t.Errorf("%s: Vary %q, want %q", path, got, want)
		}
	}
}
