package session

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"vayu/internal/access/apikey"
	"vayu/schema"
)

func TestAgentIsSanitized(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequest(http.MethodPost, Path, nil)
	for sent, want := range map[string]string{
		"Fire\x00fox\xff": "Fire?fox?", strings.Repeat("ü", 300): strings.Repeat("ü", agentLongest),
		"x " + apikey.Mint(schema.Live): "x sk_live_***",
	} {
		r.Header.Set("User-Agent", sent)
		if got := agentOf(r); !strings.HasPrefix(got, want) || len(got) > len(want)+20 {
			t.Errorf("%q became %q, want %q", sent, got, want)
		}
	}
	if got := cookieOf("x", time.Millisecond).MaxAge; got != 1 {
		t.Errorf("a cookie of a millisecond has the age %d, want 1", got)
	}
	if got := noCookie().MaxAge; got != -1 {
		t.Errorf("no cookie has the age %d, want -1", got)
	}
}

func FuzzParseToken(f *testing.F) {
	token, want := mintToken()
	switch got, ok := parseToken(token); {
	case !ok:
		f.Fatal("a token is not known again")
	case got != want:
		f.Fatalf("a token is not known again: got %v, want %v", got, want)
	}
	f.Add(token)
	f.Add("")
	f.Add(strings.Repeat("_", 43))
	f.Add(strings.Repeat("A", 42) + "\n")
	f.Fuzz(func(t *testing.T, text string) {
		if _, ok := parseToken(text); ok && (len(text) != 43 || strings.ContainsAny(text, "=+/ \r\n")) {
			t.Errorf("%q is taken for a token", text)
		}
	})
}
