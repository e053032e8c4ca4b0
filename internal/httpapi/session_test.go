package httpapi_test

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/httpapi"
)

func TestCookiesOverTLSAreSecure(t *testing.T) {
	t.Parallel()
	cookie := &http.Cookie{Name: "a", Value: "b"}
	h, err := httpapi.New(httpapi.Config{
		Access: &watched{}, Proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")},
		Routes: []httpapi.Route{{Method: "GET", Path: "/v1/cookie", Handler: func(*httpapi.Call) (httpapi.Response, error) {
			return httpapi.Response{Value: 1, Cookie: cookie, Location: "/v1/there"}, nil
		}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		path, from, proto, location string
		tls, secure                 bool
	}{
		"plain":                {path: "/v1/cookie", from: "203.0.113.1:1", location: "/v1/there"},
		"TLS":                  {path: "/v1/cookie", from: "203.0.113.1:1", tls: true, secure: true, location: "/v1/there"},
		"a proxy says so":      {path: "/v1/cookie", from: "10.1.1.1:1", proto: "HTTPS, http", secure: true, location: "/v1/there"},
		"a proxy says not":     {path: "/v1/cookie", from: "10.1.1.1:1", proto: "http", location: "/v1/there"},
		"anybody says so":      {path: "/v1/cookie", from: "203.0.113.1:1", proto: "https", location: "/v1/there"},
		"no address":           {path: "/v1/cookie", from: "@", proto: "https", location: "/v1/there"},
		"the dashboard's path": {path: "/dashboard/v1/cookie", from: "203.0.113.1:1", location: "/dashboard/v1/there"},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, c.path, http.NoBody)
			r.RemoteAddr = c.from
			r.Header.Set("X-Forwarded-Proto", c.proto)
			if c.tls {
				r.TLS = &tls.ConnectionState{}
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if set := w.Header().Get("Set-Cookie"); strings.Contains(set, "Secure") != c.secure {
				t.Errorf("Set-Cookie = %q, want it secure: %v", set, c.secure)
			}
			if got := w.Header().Get("Location"); got != c.location {
				t.Errorf("Location = %q, want %q", got, c.location)
			}
		})
	}
	if cookie.Secure {
		t.Error("the handler's own cookie was changed")
	}
}

func TestChangesFromOtherSitesAreCounted(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewRegistry()
	access := &watched{}
	h, err := httpapi.New(httpapi.Config{Access: access, Metrics: reg})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodPost, "/dashboard/v1/made", http.NoBody)
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	counted := 0.0
	for _, f := range families {
		if f.GetName() == "vayu_http_cross_origin_refusals_total" {
			counted = f.GetMetric()[0].GetCounter().GetValue()
		}
	}
	if w.Code != http.StatusForbidden || counted != 1 || len(access.seen) != 0 {
		t.Errorf("got %d, %v counted, access saw %v", w.Code, counted, access.seen)
	}
}

func TestPathsOfSessionsAreTheAPIsOwn(t *testing.T) {
	t.Parallel()
	h := (&watched{}).routes()
	for path, want := range map[string]int{
		"/dashboard/v1/three": 200, "/dashboard/v1/made": 405, "/dashboard/v1/": 404, "/dashboard/v1": 404, "/dashboard/v1%2fthree": 404,
		"/dashboard/v1//three": 404, "/dashboard//v1/three": 404, "/dashboard/v1/../v1/three": 404, "/Dashboard/v1/three": 404,
	} {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest(method, path, http.NoBody))
			if w.Code != want {
				t.Errorf("%s %s: got %d, want %d", method, path, w.Code, want)
			}
		}
	}
}
