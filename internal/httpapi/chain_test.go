package httpapi_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/httpapi"
	"vayu/schema"
)

// watched is an Access that records the steps of each call.
type watched struct {
	limits httpapi.Limits
	refuse error
	verify error
	mu     sync.Mutex
	seen   []string
}

func (w *watched) notef(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = append(w.seen, fmt.Sprintf(format, args...))
}

func (w *watched) Admit(c *httpapi.Call, r *httpapi.Route) (httpapi.Pass, error) {
	w.notef("admit %s", r.Path)
	c.Principal, c.Limits = httpapi.Principal{World: schema.Live, Account: "acc_1", Key: "key_1"}, w.limits
	if w.refuse != nil {
		return nil, w.refuse
	}
	return w, nil
}

func (w *watched) Verify(c *httpapi.Call) error {
	w.notef("verify %d", len(c.Body))
	return w.verify
}

func (*watched) Reserve(*httpapi.Call, int64) error { return nil }

func (w *watched) End(c *httpapi.Call, status int) {
	w.notef("end %d, %d", status, c.Count)
	if c.Limits.Quota.Limit > 0 {
		c.Limits.Quota.Used += c.Count
	}
}

func (w *watched) routes() http.Handler {
	h, err := httpapi.New(httpapi.Config{Access: w, Metrics: prometheus.NewRegistry(), Routes: []httpapi.Route{
		{Method: "GET", Path: "/v1/three", Handler: func(c *httpapi.Call) (httpapi.Response, error) {
			c.Count = 3
			return httpapi.Response{Value: 1}, nil
		}},
		{Method: "POST", Path: "/v1/made", Limit: httpapi.Money, Body: httpapi.SmallBody, Handler: func(*httpapi.Call) (httpapi.Response, error) {
			return httpapi.Response{Status: http.StatusCreated, Value: 1, Location: "/v1/made/1", Replayed: true}, nil
		}},
		{Method: "GET", Path: "/v1/panic", Handler: func(*httpapi.Call) (httpapi.Response, error) { panic("x") }},
		{Method: "GET", Path: "/v1/abort", Handler: func(*httpapi.Call) (httpapi.Response, error) { panic(http.ErrAbortHandler) }},
		{Method: "GET", Path: "/v1/bad", Handler: func(*httpapi.Call) (httpapi.Response, error) {
			return httpapi.Response{Value: func() {}}, nil
		}},
		{Method: "GET", Path: "/v1/refused", Handler: func(*httpapi.Call) (httpapi.Response, error) {
			return httpapi.Response{}, schema.NewProblem(schema.NoData, "", "no")
		}},
	}})
	if err != nil {
		panic(err)
	}
	return h
}

func TestEveryAdmittedCallEndsOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		refuse, verify error
		method, path   string
		headers        []string
		want           []string
	}{
		"good":        {method: "GET", path: "/v1/three", want: []string{"admit /v1/three", "verify 0", "end 200, 3"}},
		"HEAD":        {method: "HEAD", path: "/v1/three", want: []string{"admit /v1/three", "verify 0", "end 200, 3"}},
		"created":     {method: "POST", path: "/v1/made", want: []string{"admit /v1/made", "verify 0", "end 201, 1"}},
		"refused":     {method: "GET", path: "/v1/refused", want: []string{"admit /v1/refused", "verify 0", "end 404, 1"}},
		"panic":       {method: "GET", path: "/v1/panic", want: []string{"admit /v1/panic", "verify 0", "end 500, 1"}},
		"aborted":     {method: "GET", path: "/v1/abort", want: []string{"admit /v1/abort", "verify 0", "end 500, 1"}},
		"no JSON":     {method: "GET", path: "/v1/bad", want: []string{"admit /v1/bad", "verify 0", "end 500, 1"}},
		"version":     {method: "GET", path: "/v1/three", headers: []string{"X-SERVICE-Version", "1"}, want: []string{"admit /v1/three", "end 400, 1"}},
		"no such way": {method: "PUT", path: "/v1/three", want: nil},
		"nowhere":     {method: "GET", path: "/v1/none", want: nil},
		"signature": {
			verify: schema.NewProblem(schema.SignatureInvalid, "", "no"), method: "GET", path: "/v1/three",
			want: []string{"admit /v1/three", "verify 0", "end 401, 1"},
		},
		"not admitted": {
			refuse: schema.NewProblem(schema.Unauthorized, "", "no"), method: "GET", path: "/v1/three",
			want: []string{"admit /v1/three"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &watched{verify: c.verify, refuse: c.refuse}
			s := httptest.NewServer(w.routes())
			defer s.Close()
			r, err := http.NewRequestWithContext(t.Context(), c.method, s.URL+c.path, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			for i := 0; i < len(c.headers); i += 2 {
				r.Header.Set(c.headers[i], c.headers[i+1])
			}
			resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
			if err != nil && !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
			if err == nil {
				resp.Body.Close()
			}
			s.Close()
			if diff := cmp.Diff(c.want, w.seen); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRepliesReportLimits(t *testing.T) {
	t.Parallel()
	next := time.Now().AddDate(0, 1, 0).Unix()
	full := httpapi.Limits{Rate: httpapi.Rate{PerSecond: 50, Burst: 101, Remaining: 73, Reset: 2}, Quota: httpapi.Quota{Limit: 1000, Used: 800, Reset: next}}
	ours := []string{"RateLimit", "RateLimit-Policy", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-Quota-Limit", "X-Quota-Used", "Retry-After", "Location", "Idempotent-Replayed"}
	for name, c := range map[string]struct {
		limits       httpapi.Limits
		refuse       error
		method, path string
		want         []string
	}{
		"all":         {full, nil, "GET", "/v1/three", []string{`"default";r=73;t=2`, `"default";q=101;w=3`, "101", "73", "1000", "803", "", "", ""}},
		"money":       {full, nil, "POST", "/v1/made", []string{`"money";r=73;t=2`, `"money";q=101;w=3`, "101", "73", "1000", "801", "", "/v1/made/1", "true"}},
		"panic":       {full, nil, "GET", "/v1/panic", []string{`"default";r=73;t=2`, `"default";q=101;w=3`, "101", "73", "1000", "801", "", "", ""}},
		"no rate":     {httpapi.Limits{Quota: full.Quota}, nil, "GET", "/v1/three", []string{"", "", "", "", "1000", "803", "", "", ""}},
		"no quota":    {httpapi.Limits{Rate: full.Rate}, nil, "GET", "/v1/three", []string{`"default";r=73;t=2`, `"default";q=101;w=3`, "101", "73", "", "", "", "", ""}},
		"none":        {httpapi.Limits{}, nil, "GET", "/v1/three", []string{"", "", "", "", "", "", "", "", ""}},
		"too fast":    {full, schema.NewProblem(schema.RateLimited, "", "slow down"), "GET", "/v1/three", []string{`"default";r=73;t=2`, `"default";q=101;w=3`, "101", "73", "1000", "800", "1", "", ""}},
		"too fast, 7": {full, &schema.Problem{Code: schema.RateLimited, RetryAfter: 7}, "GET", "/v1/three", []string{`"default";r=73;t=2`, `"default";q=101;w=3`, "101", "73", "1000", "800", "7", "", ""}},
		"away":        {httpapi.Limits{}, schema.NewProblem(schema.ServiceUnavailable, "", "x"), "GET", "/v1/three", []string{"", "", "", "", "", "", "5", "", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &watched{limits: c.limits, refuse: c.refuse}
			h := w.routes()
			direct := httptest.NewServer(h) // headers in the map
			defer direct.Close()
			for _, base := range [...]string{direct.URL, "http://" + serve(t, h, plain(t))} {
				resp, _ := request(t, c.method, base, c.path)
				var got []string
				for _, name := range ours {
					values := resp.Header[http.CanonicalHeaderKey(name)]
					got = append(got, strings.Join(values, " and "))
				}
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Error(diff)
				}
				if len(resp.Header["X-Request-Id"]) != 1 || len(resp.Header["X-Service-Version"]) != 1 {
					t.Errorf("headers %v", resp.Header)
				}
			}
		})
	}
	w := &watched{limits: full, refuse: schema.NewProblem(schema.QuotaExceeded, "", "x")}
	resp, _ := request(t, "GET", "http://"+serve(t, w.routes(), plain(t)), "/v1/three")
	wait, err := time.ParseDuration(resp.Header.Get("Retry-After") + "s")
	if err != nil || wait < 27*24*time.Hour || wait > 32*24*time.Hour {
		t.Errorf("a quota that is used up: retry after %v, %v", wait, err)
	}
	if resp.Header.Get("X-Quota-Reset") != fmt.Sprint(next) || len(resp.Header.Get("X-Ratelimit-Reset")) != 10 {
		t.Errorf("headers %v", resp.Header)
	}
}
