package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/httpapi"
	"vayu/internal/httpapi/httpapitest"
)

const page = "https://app.example.com"

// originsAPI serves routes to pages: page may use keys of the live account, and another origin those of the sandbox.
func originsAPI(t *testing.T, origins map[string][]string) string {
	t.Helper()
	ready, big := httpapi.Ready([]byte(`{"world":1}`), changed), httpapi.Ready([]byte(long), changed)
	h, err := httpapi.New(httpapi.Config{
		Access: httpapitest.Keys{liveKey, sandboxKey}, Metrics: prometheus.NewRegistry(), Origins: origins,
		Routes: []httpapi.Route{
			{Method: "GET", Path: "/v1/ready", Handler: func(*httpapi.Call) (httpapi.Response, error) { return ready, nil }},
			{Method: "GET", Path: "/v1/big", Handler: func(*httpapi.Call) (httpapi.Response, error) { return big, nil }},
			{Method: "GET", Path: "/v1/open", NoAuth: true, Handler: func(*httpapi.Call) (httpapi.Response, error) { return ready, nil }},
			{Method: "POST", Path: "/v1/money", Handler: func(*httpapi.Call) (httpapi.Response, error) {
				return httpapi.Response{Status: http.StatusCreated, Value: 1}, nil
			}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func accounts() map[string][]string {
	return map[string][]string{"acc_live": {page, "http://localhost:5173"}, "acc_sandbox": {"https://sandbox.example.com"}}
}

// corsHeaders returns the names of the headers about origins that a reply has.
func corsHeaders(h http.Header) string {
	var found []string
	for name := range h {
		if strings.HasPrefix(name, "Access-Control-") {
			found = append(found, name)
		}
	}
	return strings.Join(found, " ")
}

// A page may read replies and errors if the account of the key names its origin exactly. Other pages get no header.
func TestPagesOfNamedOriginsMayRead(t *testing.T) {
	t.Parallel()
	base := originsAPI(t, accounts())
	for name, c := range map[string]struct {
		origin, key, path string
		status            int
		allowed           bool
	}{
		"named":                    {page, liveKey, "/v1/ready", 200, true},
		"another one":              {"http://localhost:5173", liveKey, "/v1/big", 200, true},
		"invalid key":              {page, "sk_live_wrong", "/v1/ready", 401, true},
		"no key":                   {page, "", "/v1/ready", 401, true},
		"parameter":                {page, liveKey, "/v1/ready?x=1", 400, true},
		"named by another account": {"https://sandbox.example.com", liveKey, "/v1/ready", 200, false},
		"key of another account":   {page, sandboxKey, "/v1/ready", 200, false},
		"not named":                {"https://evil.example.com", liveKey, "/v1/ready", 200, false},
		"null":                     {"null", liveKey, "/v1/ready", 200, false},
		"longer":                   {page + ".evil.com", liveKey, "/v1/ready", 200, false},
		"subdomain":                {"https://x.app.example.com", liveKey, "/v1/ready", 200, false},
		"other scheme":             {"http://app.example.com", liveKey, "/v1/ready", 200, false},
		"other port":               {page + ":8443", liveKey, "/v1/ready", 200, false},
		"upper case":               {"https://APP.example.com", liveKey, "/v1/ready", 200, false},
		"with a path":              {page + "/", liveKey, "/v1/ready", 200, false},
		"star":                     {"*", liveKey, "/v1/ready", 200, false},
		"two":                      {page + "\n" + page, liveKey, "/v1/ready", 200, false},
		"none":                     {"", liveKey, "/v1/ready", 200, false},
		"unknown path":             {page, liveKey, "/v1/nothing", 404, false},
		"session":                  {page, "", "/dashboard/v1/ready", 401, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			key := ""
			if c.key != "" {
				key = "Bearer " + c.key
			}
			resp, body := request(t, http.MethodGet, base, c.path, "Origin", c.origin, "Authorization", key)
			if resp.StatusCode != c.status {
				t.Errorf("got status %d, want %d: %s", resp.StatusCode, c.status, body)
			}
			want := ""
			if c.allowed {
				want = c.origin
			}
			if got := resp.Header.Get("Access-Control-Allow-Origin"); got != want {
				t.Errorf("got allowed origin %q, want %q", got, want)
			}
			if got := corsHeaders(resp.Header); !c.allowed && got != "" {
				t.Errorf("got headers %s, want none", got)
			}
			if got := resp.Header.Get("Access-Control-Allow-Credentials"); got != "" {
				t.Errorf("got credentials %q, want none: a key is no cookie", got)
			}
			if got := resp.Header.Get("Access-Control-Expose-Headers"); c.allowed && !strings.Contains(got, "Retry-After") {
				t.Errorf("got exposed headers %q, want Retry-After among them", got)
			}
		})
	}
}

// A browser asks without a key before it sends one.
func TestPreflights(t *testing.T) {
	t.Parallel()
	base := originsAPI(t, accounts())
	for name, c := range map[string]struct {
		origin, method, path string
		status               int
	}{
		"named":                  {page, "GET", "/v1/ready", 204},
		"of the other account":   {"https://sandbox.example.com", "GET", "/v1/ready", 204},
		"for a route that posts": {page, "POST", "/v1/money", 204},
		"not named":              {"https://evil.example.com", "GET", "/v1/ready", 405},
		"null":                   {"null", "GET", "/v1/ready", 405},
		"no origin":              {"", "GET", "/v1/ready", 405},
		"no method":              {page, "", "/v1/ready", 405},
		"unknown path":           {page, "GET", "/v1/nothing", 404},
		"session":                {page, "GET", "/dashboard/v1/ready", 405},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resp, body := request(t, http.MethodOptions, base, c.path, "Authorization", "", "Origin", c.origin,
				"Access-Control-Request-Method", c.method, "Access-Control-Request-Headers", "authorization")
			if resp.StatusCode != c.status {
				t.Errorf("got status %d, want %d: %s", resp.StatusCode, c.status, body)
			}
			if c.status != http.StatusNoContent {
				if got := corsHeaders(resp.Header); got != "" {
					t.Errorf("got headers %s, want none", got)
				}
				return
			}
			for header, want := range map[string]string{
				"Access-Control-Allow-Origin": c.origin, "Access-Control-Allow-Methods": "GET, HEAD", "Access-Control-Max-Age": "7200",
				"Vary": "Origin, Access-Control-Request-Method, Access-Control-Request-Headers",
			} {
				if got := resp.Header.Get(header); got != want {
					t.Errorf("got %s %q, want %q", header, got, want)
				}
			}
			if got := resp.Header.Get("Access-Control-Allow-Headers"); !strings.Contains(got, "Authorization") {
				t.Errorf("got allowed headers %q, want Authorization among them", got)
			}
		})
	}
}

// Every page may read a path that needs no key, also where accounts name origins.
func TestPreflightsOfPublicPaths(t *testing.T) {
	t.Parallel()
	for name, base := range map[string]string{"origins": originsAPI(t, accounts()), "no origins": originsAPI(t, nil)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resp, body := request(t, http.MethodOptions, base, "/v1/open", "Authorization", "", "Origin", "https://any.example.com",
				"Access-Control-Request-Method", "GET", "Access-Control-Request-Headers", "x-app")
			if got := resp.Header.Get("Access-Control-Allow-Origin"); resp.StatusCode != http.StatusNoContent || got != "*" {
				t.Errorf("got status %d, origin %q: %s", resp.StatusCode, got, body)
			}
			resp, body = request(t, http.MethodGet, base, "/v1/open", "Authorization", "", "Origin", "https://any.example.com")
			if got := resp.Header.Get("Access-Control-Expose-Headers"); resp.StatusCode != http.StatusOK || !strings.Contains(got, "ETag") {
				t.Errorf("got status %d, exposed headers %q: %s", resp.StatusCode, got, body)
			}
		})
	}
}

// A cache must not send a page the reply to a page of another origin. Without the setting, nothing changes.
func TestRepliesVaryByOrigin(t *testing.T) {
	t.Parallel()
	with, without := originsAPI(t, accounts()), originsAPI(t, nil)
	for name, c := range map[string]struct{ base, path, origin, want string }{
		"named":        {with, "/v1/ready", page, "Authorization, Origin"},
		"not named":    {with, "/v1/ready", "https://evil.example.com", "Authorization, Origin"},
		"no origin":    {with, "/v1/ready", "", "Authorization, Origin"},
		"large":        {with, "/v1/big", page, "Authorization, Origin, Accept-Encoding"},
		"unknown path": {with, "/v1/nothing", page, "Authorization, Origin"},
		"off":          {without, "/v1/ready", page, "Authorization"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resp, _ := request(t, http.MethodGet, c.base, c.path, "Origin", c.origin)
			if got := strings.Join(resp.Header.Values("Vary"), ", "); got != c.want {
				t.Errorf("got Vary %q, want %q", got, c.want)
			}
			if got := corsHeaders(resp.Header); name == "off" && got != "" {
				t.Errorf("got headers %s without the setting, want none", got)
			}
		})
	}
}
