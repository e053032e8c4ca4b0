package httpapitest

import (
	"bytes"
	"compress/gzip"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"vayu/internal/httpapi"
)

// answer is one reply as received.
type answer struct {
	method, target string
	status         int
	header         http.Header
	body           string
}

const record = `{"status":"success","city":"Delhi","aqi":337,"category":"Very Poor","pm25":162.86,"pm10":316.03,"no2":64.05,` +
	`"so2":null,"co":2.1,"o3":35.45,"dominant":"PM2.5","updated":"2026-11-21T03:30:00Z"}`

const refusal = `{"status":"error","message":"No.","error":{"code":"not_found","message":"No.","request_id":"req_1","retryable":false}}`

// good returns a reply without a fault.
func good() answer {
	return answer{method: http.MethodGet, target: "/v1/aqi?city=Delhi", status: http.StatusOK, body: record, header: http.Header{
		"Content-Type": {"application/json"}, "Cache-Control": {"private, max-age=60"}, "Etag": {`"fa1f9c7cca7dba2b"`},
		"X-Request-Id": {"req_1"}, "X-SERVICE-Version": {httpapi.Version}, "X-RateLimit-Remaining": {"99"},
	}}
}

func refused(method, target string, status int) answer {
	return answer{method: method, target: target, status: status, body: refusal, header: http.Header{
		"Content-Type": {"application/json"}, "Cache-Control": {"no-store"}, "X-Request-Id": {"req_1"}, "X-Service-Version": {httpapi.Version},
	}}
}

func (a *answer) faults(t *testing.T) []string {
	t.Helper()
	req := httptest.NewRequestWithContext(t.Context(), a.method, a.target, http.NoBody)
	return faults(req, &http.Response{StatusCode: a.status, Header: a.header}, []byte(a.body))
}

// wantFault fails the test unless got contains want. With an empty want, got must be empty.
func wantFault(t *testing.T, got, want string) {
	t.Helper()
	if want == "" && got != "" {
		t.Errorf("got %q, want no fault", got)
	}
	if !strings.Contains(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestGoodRepliesPass(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*answer){
		"as it is":       func(*answer) {},
		"HEAD":           func(a *answer) { a.method, a.body = http.MethodHead, "" },
		"a day":          func(a *answer) { a.body = strings.Replace(record, "}", `,"date":"2026-11-21"}`, 1) },
		"bulk":           func(a *answer) { a.body = `{"status":"success","count":1,"results":[` + record + `]}` },
		"with a charset": func(a *answer) { a.header.Set("Content-Type", "application/json; charset=utf-8") },
		"not modified": func(a *answer) {
			a.status, a.body = http.StatusNotModified, ""
			a.header.Del("Content-Type")
		},
		"compressed": func(a *answer) {
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			_, _ = io.WriteString(z, record)
			_ = z.Close()
			a.body = b.String()
			a.header.Set("Content-Encoding", "gzip")
			a.header.Set("Etag", `"fa1f9c7cca7dba2b-gzip"`)
		},
		"refused":           func(a *answer) { *a = refused(http.MethodGet, "/v1/aqi?citty=x", http.StatusNotFound) },
		"path of nothing":   func(a *answer) { *a = refused(http.MethodGet, "/v1/nothing", http.StatusNotFound) },
		"path parameter":    func(a *answer) { *a = refused(http.MethodGet, "/v1/stations/x", http.StatusNotFound) },
		"two leading lines": func(a *answer) { *a = refused(http.MethodGet, "http://x//v1/aqi", http.StatusNotFound) },
		"other method": func(a *answer) {
			*a = refused(http.MethodPost, "/v1/aqi", http.StatusMethodNotAllowed)
			a.header.Set("Allow", "GET, HEAD")
			a.body = strings.Replace(refusal, "not_found", "method_not_allowed", 1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := good()
			change(&a)
			if got := a.faults(t); len(got) > 0 {
				t.Errorf("got %q, want no fault", got)
			}
		})
	}
}

// TestEveryFaultIsFound changes one thing of a good reply at a time.
func TestEveryFaultIsFound(t *testing.T) {
	t.Parallel()
	body := func(before, after string) func(*answer) {
		return func(a *answer) { a.body = strings.Replace(a.body, before, after, 1) }
	}
	for name, c := range map[string]struct {
		change func(*answer)
		want   string
	}{
		"missing field":          {body(`"aqi":337,`, ""), "oneOf"},
		"more than one field":    {body(`"city"`, `"town":1,"city"`), "town"},
		"wrong enum":             {body("Very Poor", "Awful"), "oneOf"},
		"wrong type":             {body("337", `"337"`), "oneOf"},
		"out of range":           {body("337", "501"), "oneOf"},
		"null where none may be": {body(`"PM2.5"`, "null"), "oneOf"},
		"no UTC":                 {body("03:30:00Z", "09:00:00+05:30"), "oneOf"},
		"no date":                {body("2026-11-21T", "2026-13-41T"), "oneOf"},
		"not JSON":               {body("}", ""), "not JSON"},
		"two documents":          {body("}", "}{}"), "not JSON"},
		"undocumented status":    {func(a *answer) { a.status = http.StatusTeapot }, "status"},
		"missing ETag":           {func(a *answer) { a.header.Del("Etag") }, "Etag"},
		"missing request id":     {func(a *answer) { a.header.Del("X-Request-Id") }, "X-Request-Id"},
		"weak ETag":              {func(a *answer) { a.header.Set("Etag", `W/"1"`) }, "Etag"},
		"header of no contract":  {func(a *answer) { a.header.Set("X-Powered-By", "Go") }, "X-Powered-By"},
		"doubled header":         {func(a *answer) { a.header.Add("Etag", `"1"`) }, "2 lines"},
		"doubled plain header":   {func(a *answer) { a.header["Content-Length"] = []string{"1", "1"} }, "Content-Length has 2 lines"},
		"doubled in two forms":   {func(a *answer) { a.header["X-Service-Version"] = a.header["X-SERVICE-Version"] }, "2 lines"},
		"header not a number":    {func(a *answer) { a.header["X-RateLimit-Remaining"] = []string{"many"} }, "Ratelimit-Remaining"},
		"wrong content type":     {func(a *answer) { a.header.Set("Content-Type", "text/html") }, "text/html"},
		"no content type":        {func(a *answer) { a.header.Del("Content-Type") }, "type"},
		"wrong charset":          {func(a *answer) { a.header.Set("Content-Type", "application/json; charset=utf-16") }, "utf-16"},
		"unknown encoding":       {func(a *answer) { a.header.Set("Content-Encoding", "br") }, "br"},
		"not what it says":       {func(a *answer) { a.header.Set("Content-Encoding", "gzip") }, "gzip"},
		"HEAD with a body":       {func(a *answer) { a.method = http.MethodHead }, "HEAD"},
		"304 with a body":        {func(a *answer) { a.status = http.StatusNotModified }, "body"},
		"undefined parameter":    {func(a *answer) { a.target += "&colour=red" }, "colour"},
		"nothing answered":       {func(a *answer) { a.target = "/v1/nothing" }, "404"},
		"method answered":        {func(a *answer) { a.method = http.MethodDelete }, "405"},
		"bare 404": {func(a *answer) {
			*a = refused(http.MethodGet, "/v1/nothing", http.StatusNotFound)
			a.header.Set("Content-Type", "text/plain")
		}, "text/plain"},
		"code of another status": {func(a *answer) {
			*a = refused(http.MethodGet, "/v1/nothing", http.StatusNotFound)
			a.body = strings.Replace(refusal, "not_found", "no_luck", 1)
		}, "code"},
		"refusal without a request id": {func(a *answer) {
			*a = refused(http.MethodGet, "/v1/nothing", http.StatusNotFound)
			a.body = strings.Replace(refusal, `"request_id":"req_1",`, "", 1)
		}, "request_id"},
		"405 without Allow": {func(a *answer) {
			*a = refused(http.MethodPost, "/v1/aqi", http.StatusMethodNotAllowed)
			a.body = strings.Replace(refusal, "not_found", "method_not_allowed", 1)
		}, "Allow"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := good()
			c.change(&a)
			wantFault(t, strings.Join(a.faults(t), "\n"), c.want)
		})
	}
}

func TestRefusalsAreCheckedWithoutAPath(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		change func(*answer)
		want   string
	}{
		"good":             {http.StatusNotFound, func(*answer) {}, ""},
		"before a path":    {http.StatusRequestTimeout, func(a *answer) { a.body = strings.Replace(a.body, "not_found", "invalid_request", 1) }, ""},
		"code of another":  {http.StatusRequestTimeout, func(*answer) {}, "code"},
		"no JSON":          {http.StatusNotFound, func(a *answer) { a.body = "404 Not Found" }, "not JSON"},
		"unknown header":   {http.StatusNotFound, func(a *answer) { a.header.Set("X-Powered-By", "Go") }, "X-Powered-By"},
		"undocumented":     {http.StatusTeapot, func(*answer) {}, "status"},
		"without a header": {http.StatusNotFound, func(a *answer) { a.header.Del("Cache-Control") }, "Cache-Control"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := refused(http.MethodGet, "/", c.status)
			c.change(&a)
			got := refusalFaults(a.method, &http.Response{StatusCode: a.status, Header: a.header}, []byte(a.body))
			wantFault(t, strings.Join(got, "\n"), c.want)
		})
	}
}

func TestALocationLeadsSomewhere(t *testing.T) {
	t.Parallel()
	for location, want := range map[string]string{
		"/v1/keys/key_1":                "",
		"":                              "the header Location is missing",
		"/v1/key/key_1":                 "has no GET operation",
		"/v1/keys/key_1/rotate":         "has no GET operation",
		"https://else.where/v1/keys/k1": "is not a path",
	} {
		t.Run(location, func(t *testing.T) {
			t.Parallel()
			a := good()
			a.method, a.target, a.status = http.MethodPost, "/v1/keys", http.StatusCreated
			a.header.Del("Etag")
			if location != "" {
				a.header.Set("Location", location)
			}
			var got []string
			for _, fault := range a.faults(t) {
				if strings.Contains(fault, "Location") {
					got = append(got, fault)
				}
			}
			wantFault(t, strings.Join(got, "\n"), want)
		})
	}
}

func TestWrappersSeeWhatIsSent(t *testing.T) {
	t.Parallel()
	a := good()
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.URL.Path = "/elsewhere"
		maps.Copy(w.Header(), a.header)
		_, _ = io.WriteString(w, record[:10])
		w.Header().Set("X-Late", "not sent")
		_, _ = io.WriteString(w, record[10:])
	})
	server := httptest.NewServer(Checked(t, h))
	defer server.Close()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+a.target, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := (&http.Client{Transport: Transport(t, nil)}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != record {
		t.Errorf("got %q, want %q", got, record)
	}
}
