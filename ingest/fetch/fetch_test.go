package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"vayu/ingest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func TestGetSendsValidators(t *testing.T) {
	t.Parallel()
	const changed = "Tue, 09 Dec 2025 06:30:00 GMT"
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"a"`)
		w.Header().Set("Last-Modified", changed)
		if r.Header.Get("If-None-Match") == `"a"` && r.Header.Get("If-Modified-Since") == changed {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = w.Write([]byte("data"))
	})
	c := New(time.Minute, 100)
	first, err := c.Get(t.Context(), url, Validators{})
	if err != nil || string(first.Body) != "data" {
		t.Fatalf("%v, %v", first, err)
	}
	second, err := c.Get(t.Context(), url, first.Validators)
	if err != nil || second.Body != nil || second.Validators != first.Validators {
		t.Fatalf("%v, %v", second, err)
	}
}

// A recorder has refused replies, too, and no secrets.
func TestRecorderHasRequestsAndReplies(t *testing.T) {
	t.Parallel()
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("missing") {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = w.Write([]byte("<html>" + r.URL.RawQuery))
	})
	recorder := ingest.Recorder{Kept: 3}
	ctx := ingest.WithRecorder(t.Context(), &recorder)
	clean := func(text string) string { return strings.ReplaceAll(text, "key", "***") }
	for _, r := range [...]Request{{URL: url + "?a"}, {URL: url + "?key", Clean: clean}, {URL: url + "?missing"}, {URL: url + "?b"}} {
		if _, err := New(time.Minute, 100).Do(ctx, r); err == nil {
			t.Errorf("a web page is accepted")
		}
	}
	sum := sha256.Sum256([]byte("<html>a<html>key<html>missing<html>b"))
	want := ingest.Received{Requests: 4, Bytes: 36, SHA256: hex.EncodeToString(sum[:])}
	if diff := cmp.Diff(want, recorder.Received()); diff != "" {
		t.Errorf("received (-want +got):\n%s", diff)
	}
	const refused = "refusing the batch: bad_reply: a web page (HTML) in place of data"
	exchanges := []ingest.Exchange{
		{Request: "GET " + url, Status: 200, Bytes: 7, Body: "<html>a", Error: refused},
		{Request: "GET " + url + "?***", Status: 200, Bytes: 9, Body: "<html>***", Error: refused},
		{Request: "GET " + url, Status: 404, Bytes: 13, Body: "<html>missing", Error: "fetching " + url + ": status 404 Not Found"},
	}
	if diff := cmp.Diff(exchanges, recorder.Exchanges(), cmpopts.IgnoreFields(ingest.Exchange{}, "Elapsed")); diff != "" {
		t.Errorf("exchanges (-want +got):\n%s", diff)
	}
}

// TestErrorsQuoteTheServer checks that the error of a status has the server's explanation in one line, and no key.
func TestErrorsQuoteTheServer(t *testing.T) {
	t.Parallel()
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte("{\"error\":\n \"" + r.URL.RawQuery + " has ended\"} \xff" + strings.Repeat("ä", 200)))
	})
	clean := func(text string) string { return strings.ReplaceAll(text, "key", "***") }
	for name, c := range map[string]struct {
		request Request
		want    string
	}{
		"nothing secret":  {Request{URL: url}, `: {"error": " has ended"} ` + strings.Repeat("ä", 88)},
		"a known key":     {Request{URL: url + "?key", Clean: clean}, `: {"error": "*** has ended"} ` + strings.Repeat("ä", 86)},
		"an unknown key":  {Request{URL: url + "?key"}, ""},
		"a secret header": {Request{URL: url, Header: http.Header{"X-Key": {"a"}}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := New(time.Minute, 100).Do(t.Context(), c.request)
			if err == nil || err.Error() != "fetching "+url+": status 403 Forbidden"+c.want {
				t.Errorf("error %v, want one that ends in %s", err, c.want)
			}
		})
	}
}

func TestGetBoundsTheReply(t *testing.T) {
	t.Parallel()
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(strings.Repeat("x", 101))) })
	var refused *ingest.BatchError
	if _, err := New(time.Minute, 100).Get(t.Context(), url, Validators{}); !errors.As(err, &refused) {
		t.Errorf("a reply one byte too long: error %v", err)
	}
	if _, err := New(time.Minute, 101).Get(t.Context(), url, Validators{}); err != nil {
		t.Errorf("a reply of the largest length: error %v", err)
	}
}

// TestErrorsHideTheKey checks that no error contains the address's query.
func TestErrorsHideTheKey(t *testing.T) {
	t.Parallel()
	const key = "secret-key"
	const unreachable = "http://127.0.0.1:1" // not an ephemeral port
	slow := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	loop := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.String(), http.StatusFound) })
	refused := serve(t, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusForbidden) })
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx     context.Context
		url     string
		want    string
		timeout time.Duration
	}{
		"connection refused": {t.Context(), unreachable, "connection refused", time.Minute},
		"no answer":          {t.Context(), slow, "no complete reply in time", 200 * time.Millisecond},
		"redirects":          {t.Context(), loop, "too many redirects", time.Minute},
		"status":             {t.Context(), refused, "403", time.Minute},
		"cancelled":          {ended, slow, "context canceled", time.Minute},
		"bad address":        {t.Context(), "http://a b", "URL is invalid", time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := New(c.timeout, 100).Get(c.ctx, c.url+"/?api-key="+key, Validators{})
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), key) {
				t.Errorf("error %v, want one with %q and without the key", err, c.want)
			}
		})
	}
}

// TestRedirectsCarryNoReferer checks that the address and its key are only sent to
// the feed.
func TestRedirectsCarryNoReferer(t *testing.T) {
	t.Parallel()
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Referer") != "" {
			t.Errorf("Referer %q", r.Header.Get("Referer"))
		}
		if r.URL.Path == "/a" {
			http.Redirect(w, r, "/b", http.StatusFound)
			return
		}
		_, _ = w.Write([]byte("data"))
	})
	if _, err := New(time.Minute, 100).Get(t.Context(), url+"/a?api-key=k", Validators{}); err != nil {
		t.Error(err)
	}
}

// TestRedirectsStayInTLS checks that a key in the query is never sent in clear.
func TestRedirectsStayInTLS(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/down":
			http.Redirect(w, r, "http://"+r.Host+"/data?api-key=secret-key", http.StatusFound)
		case "/same":
			http.Redirect(w, r, "/data", http.StatusFound)
		default:
			_, _ = w.Write([]byte("data"))
		}
	}))
	t.Cleanup(server.Close)
	c := New(time.Minute, 100)
	c.http.Transport = server.Client().Transport
	if _, err := c.Get(t.Context(), server.URL+"/same", Validators{}); err != nil {
		t.Errorf("a redirect within TLS: %v", err)
	}
	if _, err := c.Get(t.Context(), server.URL+"/down", Validators{}); err == nil || !strings.Contains(err.Error(), "from https to http") || strings.Contains(err.Error(), "secret-key") {
		t.Errorf("a redirect to http: got %v, want a refusal without the key", err)
	}
}
