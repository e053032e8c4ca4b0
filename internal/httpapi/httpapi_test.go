package httpapi_test

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/httpapi"
	"vayu/internal/httpapi/httpapitest"
	"vayu/schema"
)

const (
	liveKey    = "sk_live_of-these-tests"
	sandboxKey = "sk_test_of-these-tests"
)

var (
	changed = time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	long    = `{"long":"` + strings.Repeat("air ", 2000) + `"}`
)

func worldsAPI(t *testing.T) (base string, end func() *prometheus.Registry) {
	t.Helper()
	reg := prometheus.NewRegistry()
	ready, big := httpapi.Ready([]byte(`{"world":1}`), changed), httpapi.Ready([]byte(long), changed)
	h, err := httpapi.New(httpapi.Config{
		Access: httpapitest.Keys{liveKey, sandboxKey}, Metrics: reg,
		Routes: []httpapi.Route{
			{Method: "GET", Path: "/v1/ready", Handler: func(*httpapi.Call) (httpapi.Response, error) { return ready, nil }},
			{Method: "GET", Path: "/v1/big", Handler: func(*httpapi.Call) (httpapi.Response, error) { return big, nil }},
			{Method: "GET", Path: "/v1/image", Handler: func(*httpapi.Call) (httpapi.Response, error) {
				image := big
				image.Type = []string{"image/png"}
				return image, nil
			}},
			{Method: "GET", Path: "/v1/parts", Handler: func(*httpapi.Call) (httpapi.Response, error) {
				return httpapi.Response{Body: []byte(long[:10]), Tail: [][]byte{[]byte(long[10:])}}, nil
			}},
			{Method: "GET", Path: "/v1/world", Handler: func(c *httpapi.Call) (httpapi.Response, error) {
				return httpapi.Response{Value: map[string]string{"world": c.World.String(), "id": c.ID}}, nil
			}},
			{Method: "POST", Path: "/v1/world", Handler: func(*httpapi.Call) (httpapi.Response, error) {
				return httpapi.Response{Status: http.StatusCreated, Value: 1}, nil
			}},
			{Method: "GET", Path: "/v1/panic", Handler: func(*httpapi.Call) (httpapi.Response, error) { panic("secret") }},
			{Method: "GET", Path: "/v1/secret", Handler: func(*httpapi.Call) (httpapi.Response, error) {
				return httpapi.Response{}, &url.Error{Op: "SELECT", URL: "10.0.0.1", Err: io.EOF}
			}},
		},
		Open: map[string]http.Handler{"/healthz": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok")) })},
	})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL, func() *prometheus.Registry {
		s.Close() // waits for handlers, which count last
		return reg
	}
}

func request(t *testing.T, method, base, path string, headers ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, base, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.URL.Opaque = "http://" + r.URL.Host + path
	r.Header.Set("Authorization", "Bearer "+liveKey)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Del(headers[i])
		for v := range strings.SplitSeq(headers[i+1], "\n") {
			if v != "" {
				r.Header.Add(headers[i], v)
			}
		}
	}
	resp, err := (&http.Transport{DisableCompression: true, DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(body)
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	base, _ := worldsAPI(t)
	for name, c := range map[string]struct {
		method, path string
		headers      []string
		code         schema.Code
	}{
		"no key":               {"GET", "/v1/ready", []string{"Authorization", ""}, schema.Unauthorized},
		"wrong key":            {"GET", "/v1/ready", []string{"Authorization", "Bearer " + liveKey + "x"}, schema.Unauthorized},
		"other scheme":         {"GET", "/v1/ready", []string{"Authorization", "Basic " + liveKey}, schema.Unauthorized},
		"key alone":            {"GET", "/v1/ready", []string{"Authorization", liveKey}, schema.Unauthorized},
		"two keys":             {"GET", "/v1/ready", []string{"Authorization", "Bearer " + liveKey + "\nBearer " + liveKey}, schema.Unauthorized},
		"key in the query":     {"GET", "/v1/ready?api_key=" + liveKey, []string{"Authorization", ""}, schema.Unauthorized},
		"unknown path":         {"GET", "/v1/nothing", nil, schema.NotFound},
		"root":                 {"GET", "/", nil, schema.NotFound},
		"doubled slash":        {"GET", "//v1/ready", nil, schema.NotFound},
		"slash at the end":     {"GET", "/v1/ready/", nil, schema.NotFound},
		"dots":                 {"GET", "/v1/../v1/ready", nil, schema.NotFound},
		"escaped slash":        {"GET", "/v1%2fready", nil, schema.NotFound},
		"escaped last slash":   {"GET", "/v1/ready%2F", nil, schema.NotFound},
		"upper case":           {"GET", "/V1/READY", nil, schema.NotFound},
		"other method":         {"DELETE", "/v1/world", nil, schema.MethodNotAllowed},
		"method of no one":     {"BREW", "/v1/world", nil, schema.MethodNotAllowed},
		"unknown version":      {"GET", "/v1/ready", []string{"X-SERVICE-Version", "2020-01-01"}, schema.UnknownVersion},
		"only pages":           {"GET", "/v1/ready", []string{"Accept", "text/html"}, schema.NotAcceptable},
		"refused type":         {"GET", "/v1/ready", []string{"Accept", "application/json; q=0.00, text/html"}, schema.NotAcceptable},
		"all but JSON":         {"GET", "/v1/ready", []string{"Accept", "application/*;level=1;q=0, */*"}, schema.NotAcceptable},
		"longer type":          {"GET", "/v1/ready", []string{"Accept", "application/json-seq"}, schema.NotAcceptable},
		"panic":                {"GET", "/v1/panic", nil, schema.InternalError},
		"an error from within": {"GET", "/v1/secret", nil, schema.InternalError},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resp, body := request(t, c.method, base, c.path, c.headers...)
			var got schema.ProblemBody
			if err := json.Unmarshal([]byte(body), &got); err != nil {
				t.Fatalf("%d %q: %v", resp.StatusCode, body, err)
			}
			if resp.StatusCode != c.code.Status() || got.Error.Code != c.code {
				t.Errorf("got %d with the code %s, want %s: %s", resp.StatusCode, got.Error.Code, c.code, body)
			}
			if got.Status != "error" {
				t.Errorf("status = %q, want error", got.Status)
			}
			if got.Error.RequestID == "" || got.Error.RequestID != resp.Header.Get("X-Request-Id") {
				t.Errorf("request ids differ: %q, %q", got.Error.RequestID, resp.Header.Get("X-Request-Id"))
			}
			if want := map[bool]string{true: "Bearer"}[resp.StatusCode == 401]; resp.Header.Get("WWW-Authenticate") != want {
				t.Errorf("WWW-Authenticate is %q, want %q", resp.Header.Get("WWW-Authenticate"), want)
			}
			if want := map[bool]string{true: "GET, HEAD, POST"}[resp.StatusCode == 405]; resp.Header.Get("Allow") != want {
				t.Errorf("Allow is %q, want %q", resp.Header.Get("Allow"), want)
			}
			if strings.Contains(body, "secret") || strings.Contains(body, "10.0.0.1") {
				t.Errorf("the reply tells what must stay inside: %s", body)
			}
		})
	}
}

func TestKeysChooseTheWorld(t *testing.T) {
	t.Parallel()
	base, _ := worldsAPI(t)
	for key, want := range map[string][2]string{"bearer " + liveKey: {"live", ""}, "BEARER  " + sandboxKey: {"sandbox", "sandbox"}} {
		resp, body := request(t, "GET", base, "/v1/world", "Authorization", key, "X-Request-Id", "mine-1")
		if !strings.Contains(body, `"world":"`+want[0]+`"`) || resp.Header.Get("X-Service-Mode") != want[1] {
			t.Errorf("got %s and mode %q, want %v", body, resp.Header.Get("X-Service-Mode"), want)
		}
		if resp.Header.Get("X-Request-Id") != "mine-1" || resp.Header.Get("X-Service-Version") != httpapi.Version {
			t.Errorf("headers %v", resp.Header)
		}
	}
	if resp, _ := request(t, "GET", base, "/v1/world", "X-Request-Id", "not ours; "+strings.Repeat("x", 80)); !strings.HasPrefix(resp.Header.Get("X-Request-Id"), "req_") {
		t.Errorf("a bad request id was echoed: %q", resp.Header.Get("X-Request-Id"))
	}
	for _, secret := range [...]string{"sk_live_", "sk_test_", "Bearer-sk_live_", "x_sk_test_"} {
		secret += strings.Repeat("a1Z", 13)
		if resp, body := request(t, "GET", base, "/v1/world", "X-Request-Id", secret); !strings.HasPrefix(resp.Header.Get("X-Request-Id"), "req_") || strings.Contains(body, "a1Z") {
			t.Errorf("a key was echoed: %q %s", resp.Header.Get("X-Request-Id"), body)
		}
	}
	if resp, body := request(t, "GET", base, "/healthz", "Authorization", ""); resp.StatusCode != 200 || body != "ok" {
		t.Errorf("an open path answered %d %q", resp.StatusCode, body)
	}
	for _, method := range []string{"POST", "DELETE", "TRACE", "OPTIONS"} {
		if resp, body := request(t, method, base, "/healthz"); resp.StatusCode != 405 || resp.Header.Get("Allow") != "GET, HEAD" {
			t.Errorf("an open path answered %s with %d %v %q", method, resp.StatusCode, resp.Header, body)
		}
	}
}

func TestConditionalRequests(t *testing.T) {
	t.Parallel()
	base, _ := worldsAPI(t)
	first, _ := request(t, "GET", base, "/v1/ready")
	tag := first.Header.Get("ETag")
	if got, want := first.Header.Get("Last-Modified"), changed.Format(http.TimeFormat); got != want {
		t.Fatalf("Last-Modified = %q, want %q", got, want)
	}
	if len(tag) < 4 {
		t.Fatalf("ETag = %q, want at least 4 characters", tag)
	}
	for name, c := range map[string]struct {
		headers []string
		want    int
	}{
		"same tag":           {[]string{"If-None-Match", tag}, 304},
		"weak":               {[]string{"If-None-Match", "W/" + tag}, 304},
		"in a list":          {[]string{"If-None-Match", `"a", ` + tag + `,"b"`}, 304},
		"in a second line":   {[]string{"If-None-Match", "\"a\"\n" + tag}, 304},
		"any":                {[]string{"If-None-Match", "*"}, 304},
		"compressed form":    {[]string{"If-None-Match", strings.TrimSuffix(tag, `"`) + `-gzip"`}, 304},
		"form in brotli":     {[]string{"If-None-Match", strings.TrimSuffix(tag, `"`) + `-br"`}, 304},
		"unknown form":       {[]string{"If-None-Match", strings.TrimSuffix(tag, `"`) + `-deflate"`}, 200},
		"another":            {[]string{"If-None-Match", `"x"`}, 200},
		"without quotes":     {[]string{"If-None-Match", strings.Trim(tag, `"`)}, 200},
		"since then":         {[]string{"If-Modified-Since", changed.Format(http.TimeFormat)}, 304},
		"since before":       {[]string{"If-Modified-Since", changed.Add(-time.Second).Format(http.TimeFormat)}, 200},
		"no date":            {[]string{"If-Modified-Since", "yesterday"}, 200},
		"the tag goes ahead": {[]string{"If-None-Match", `"x"`, "If-Modified-Since", changed.Format(http.TimeFormat)}, 200},
	} {
		t.Run(name, func(t *testing.T) {
			resp, body := request(t, "GET", base, "/v1/ready", c.headers...)
			if resp.StatusCode != c.want || (c.want == 304) != (body == "") {
				t.Errorf("%d %q, want %d", resp.StatusCode, body, c.want)
			}
			if got := resp.Header.Get("ETag"); got != tag {
				t.Errorf("ETag = %q, want %q", got, tag)
			}
		})
	}
	head, body := request(t, "HEAD", base, "/v1/ready")
	switch {
	case head.StatusCode != 200:
		t.Errorf("HEAD: head.StatusCode = %v, want 200", head.StatusCode)
	case body != "":
		t.Errorf("HEAD: body = %q, want none", body)
	case head.ContentLength != 11:
		t.Errorf("HEAD: head.ContentLength = %v, want 11", head.ContentLength)
	case head.Header.Get("ETag") != tag:
		t.Errorf("HEAD: head.Header.Get(\"ETag\") = %q, want %q", head.Header.Get("ETag"), tag)
	}
}

func TestANotModifiedReplyNamesTheSameRepresentation(t *testing.T) {
	t.Parallel()
	base, _ := worldsAPI(t)
	named := func(resp *http.Response) map[string]string {
		out := map[string]string{}
		for _, name := range [...]string{"ETag", "Vary", "Last-Modified", "Cache-Control"} {
			out[name] = resp.Header.Get(name)
		}
		return out
	}
	for _, path := range [...]string{"/v1/ready", "/v1/big"} {
		for _, accept := range [...]string{"", "br", "gzip", "zstd", "identity"} {
			full, _ := request(t, "GET", base, path, "Accept-Encoding", accept)
			for _, method := range [...]string{"GET", "HEAD"} {
				resp, body := request(t, method, base, path, "Accept-Encoding", accept, "If-None-Match", full.Header.Get("ETag"))
				if resp.StatusCode != http.StatusNotModified || body != "" {
					t.Errorf("%s %s, %q: %d %q", method, path, accept, resp.StatusCode, body)
				}
				if diff := cmp.Diff(named(full), named(resp)); diff != "" {
					t.Errorf("%s %s, %q: %s", method, path, accept, diff)
				}
			}
		}
	}
}

func TestCompression(t *testing.T) {
	t.Parallel()
	base, _ := worldsAPI(t)
	plain, _ := request(t, "GET", base, "/v1/big")
	for accept, want := range map[string]string{
		"gzip": "gzip", "zstd": "zstd", "gzip, zstd": "zstd", "gzip;q=1, zstd;q=0.5": "gzip", "*": "zstd", "br": "br",
		"gzip, deflate, br, zstd": "zstd", "gzip, br": "gzip", "gzip;q=0.9, br": "br", "br;q=0, *": "zstd", "BR": "br", "deflate": "",
		"gzip;q=0": "", "identity, gzip;q=0.5": "", "GZIP": "gzip", "gzip;q=x": "", "": "",
	} {
		for _, path := range [...]string{"/v1/big", "/v1/parts"} {
			resp, body := request(t, "GET", base, path, "Accept-Encoding", accept)
			if got := resp.Header.Get("Content-Encoding"); got != want {
				t.Errorf("%q: encoding %q, want %q", accept, got, want)
			}
			if diff := cmp.Diff(long, unpack(t, want, body)); diff != "" {
				t.Errorf("%q: %s", accept, diff)
			}
			if path == "/v1/big" && want != "" && resp.Header.Get("ETag") == plain.Header.Get("ETag") {
				t.Errorf("%q: two representations share a strong ETag", accept)
			}
		}
	}
	for _, path := range [...]string{"/v1/ready", "/v1/image"} { // a small body, and a compressed format
		resp, _ := request(t, "GET", base, path, "Accept-Encoding", "gzip")
		if got, vary := resp.Header.Get("Content-Encoding"), strings.Join(resp.Header.Values("Vary"), ", "); got != "" || strings.Contains(vary, "Accept-Encoding") {
			t.Errorf("%s has the encoding %q, Vary %q, want neither", path, got, vary)
		}
	}
}

func unpack(t *testing.T, encoding, body string) string {
	t.Helper()
	var r io.Reader = strings.NewReader(body)
	var err error
	switch encoding {
	case "br":
		r = brotli.NewReader(r)
	case "gzip":
		r, err = gzip.NewReader(r)
	case "zstd":
		r, err = zstd.NewReader(r)
	}
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestRequestsAreCounted(t *testing.T) {
	t.Parallel()
	base, end := worldsAPI(t)
	request(t, "GET", base, "/v1/ready")
	request(t, "GET", base, "/v1/panic")
	request(t, "GET", base, "/v1/nothing")
	families, err := end().Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			name := f.GetName()
			for _, l := range m.GetLabel() {
				name += " " + l.GetValue()
			}
			if m.GetCounter() != nil {
				got[name] = m.GetCounter().GetValue()
			}
		}
	}
	want := map[string]float64{
		"vayu_http_panics_total": 1, "vayu_http_unrouted_total": 1, "vayu_http_cross_origin_refusals_total": 0,
		"vayu_http_requests_total GET /v1/panic 500": 1, "vayu_http_requests_total GET /v1/ready 200": 1,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
