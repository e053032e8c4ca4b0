package httpapi_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/httpapi"
	"vayu/internal/httpapi/httpapitest"
	"vayu/schema"
)

// testAPI is an API with a GET route and two routes that take bodies; they reply with the size of
// the body.
func testAPI(tb testing.TB, access httpapi.Access) http.Handler {
	tb.Helper()
	size := func(c *httpapi.Call) (httpapi.Response, error) {
		if _, err := httpapi.DecodeOptional[map[string]any](c); err != nil {
			return httpapi.Response{}, err
		}
		return httpapi.Response{Value: map[string]int{"bytes": len(c.Body)}}, nil
	}
	h, err := httpapi.New(httpapi.Config{Access: access, Metrics: prometheus.NewRegistry(), Routes: []httpapi.Route{
		{Method: "GET", Path: "/v1/aqi", Handler: func(*httpapi.Call) (httpapi.Response, error) { return httpapi.Response{Body: []byte(`{}`)}, nil }},
		{Method: "POST", Path: "/v1/keys", Body: httpapi.SmallBody, Handler: size},
		{Method: "POST", Path: "/v1/batch", Body: httpapi.BatchBody, Handler: size},
		{Method: "DELETE", Path: "/v1/keys/{id}", Handler: func(*httpapi.Call) (httpapi.Response, error) {
			return httpapi.Response{Status: http.StatusNoContent}, nil
		}},
	}})
	if err != nil {
		tb.Fatal(err)
	}
	return h
}

// exchangeRaw sends bytes and returns every reply until the server closes, as status, code and
// field. It checks that errors of the router have the contract's body. A rejection by net/http is
// marked so, and must close the connection.
func exchangeRaw(tb testing.TB, conn net.Conn, text string) (all []string) {
	tb.Helper()
	defer conn.Close()
	go func() {
		_, _ = io.WriteString(conn, text) // a server may close early
		if half, ok := conn.(interface{ CloseWrite() error }); ok {
			_ = half.CloseWrite()
		}
	}()
	method, _, _ := strings.Cut(text, " ")
	in := bufio.NewReader(conn)
	for {
		resp, err := http.ReadResponse(in, &http.Request{Method: method})
		if err != nil {
			return all
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			tb.Errorf("reading the body of %v: %v", resp.Status, err)
		}
		got := resp.Status[:3]
		if resp.Header.Get("X-Request-Id") == "" && resp.StatusCode >= 400 {
			if resp.Header.Get("Content-Type") == "application/json" || !resp.Close {
				tb.Errorf("net/http replied %s %v", resp.Status, resp.Header)
			}
			all = append(all, got+" net/http")
			continue
		}
		if resp.StatusCode >= 400 {
			httpapitest.CheckRefusal(tb, method, resp, body)
		}
		if resp.StatusCode >= 400 && method != http.MethodHead {
			var p schema.ProblemBody
			if err := json.Unmarshal(body, &p); err != nil {
				tb.Errorf("%s %q: %v", resp.Status, body, err)
			}
			if p.Error.RequestID != resp.Header.Get("X-Request-Id") || resp.Header.Get("X-Content-Type-Options") != "nosniff" {
				tb.Errorf("%s %v %s", resp.Status, resp.Header, body)
			}
			got += " " + string(p.Error.Code) + " " + p.Error.Field
		}
		all = append(all, strings.TrimSpace(got))
	}
}

func dial(tb testing.TB, address string) net.Conn {
	tb.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		tb.Fatal(err)
	}
	return conn
}

func TestEveryRequestGetsTheContractsAnswer(t *testing.T) {
	t.Parallel()
	address := serve(t, testAPI(t, httpapitest.Keys{liveKey, sandboxKey}), plain(t))
	for name, c := range rawRequests() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(strings.Split(c[1], "; "), exchangeRaw(t, dial(t, address), c[0])); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// rawRequests are requests as bytes, and the replies to each.
func rawRequests() map[string][2]string {
	const host, key, typed = "Host: localhost\r\n", "Authorization: Bearer " + liveKey + "\r\n", "Content-Type: application/json\r\n"
	get := func(line, headers string) string { return line + "\r\n" + headers + "\r\n" }
	post := func(headers, body string) string {
		return "POST /v1/keys HTTP/1.1\r\n" + host + key + headers + "\r\n" + body
	}
	const aqi = "GET /v1/aqi HTTP/1.1"
	const big = "Content-Length: 20971520\r\n"
	return map[string][2]string{
		"usual":                     {get(aqi, host+key), "200"},
		"HTTP/1.0":                  {get("GET /v1/aqi HTTP/1.0", key), "200"},
		"HTTP/1.0 kept":             {get("GET /v1/aqi HTTP/1.0", key+"Connection: keep-alive\r\n") + get("GET /v1/aqi HTTP/1.0", key), "200; 200"},
		"pipelined":                 {get(aqi, host+key) + get("GET /v1/x HTTP/1.1", host+key) + get(aqi, host+key), "200; 404 not_found; 200"},
		"blank lines before":        {get("\r\n"+aqi, host+key), "400 net/http"},
		"absolute form":             {get("GET http://localhost/v1/aqi HTTP/1.1", host+key), "200"},
		"absolute form, other host": {get("GET http://example.org/v1/aqi HTTP/1.1", host+key), "200"},
		"OPTIONS *":                 {get("OPTIONS * HTTP/1.1", host+key), "404 not_found"},
		"OPTIONS":                   {get("OPTIONS /v1/aqi HTTP/1.1", host+key), "405 method_not_allowed"},
		"TRACE":                     {get("TRACE /v1/aqi HTTP/1.1", host+key), "405 method_not_allowed"},
		"CONNECT":                   {get("CONNECT localhost:443 HTTP/1.1", host+key), "404 not_found"},
		"CONNECT to a path":         {get("CONNECT /v1/aqi HTTP/1.1", host+key), "405 method_not_allowed"},
		"HEAD":                      {get("HEAD /v1/aqi HTTP/1.1", host+key), "200"},
		"HEAD of nothing":           {get("HEAD /v1/x HTTP/1.1", host+key), "404"},
		"HTTP/2 by heart":           {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "404 not_found"},
		"dots":                      {get("GET /v1/../v1/aqi HTTP/1.1", host+key), "404 not_found"},
		"doubled slash":             {get("GET //v1/aqi HTTP/1.1", host+key), "404 not_found"},
		"slash at the end":          {get("GET /v1/aqi/ HTTP/1.1", host+key), "404 not_found"},
		"DELETE":                    {get("DELETE /v1/keys/k HTTP/1.1", host+key), "204"},

		"no key":           {get(aqi, host), "401 unauthorized"},
		"empty key":        {get(aqi, host+"Authorization: Bearer \r\n"), "401 unauthorized"},
		"empty header":     {get(aqi, host+"Authorization:\r\n"), "401 unauthorized"},
		"doubled":          {get(aqi, host+key+key), "401 unauthorized"},
		"doubled in one":   {get(aqi, host+"Authorization: Bearer "+liveKey+", Bearer "+liveKey+"\r\n"), "401 unauthorized"},
		"Basic":            {get(aqi, host+"Authorization: Basic "+liveKey+"\r\n"), "401 unauthorized"},
		"lower case":       {get(aqi, host+"authorization: bearer "+liveKey+"\r\n"), "200"},
		"trailing blank":   {get(aqi, host+"Authorization: Bearer "+liveKey+" \t\r\n"), "200"},
		"10 kB key":        {get(aqi, host+"Authorization: Bearer "+strings.Repeat("k", 10_000)+"\r\n"), "401 unauthorized"},
		"key in the query": {get("GET /v1/aqi?api_key="+liveKey+" HTTP/1.1", host), "401 unauthorized"},
		"NUL in the key":   {get(aqi, host+"Authorization: Bearer \x00\r\n"), "400 net/http"},
		"CR in the key":    {get(aqi, host+"Authorization: Bearer a\rb\r\n"), "400 net/http"},
		"a folded key":     {get(aqi, host+"Authorization: Bearer\r\n "+liveKey+"\r\n"), "200"},

		"no Host":                {get(aqi, key), "400 net/http"},
		"two Hosts":              {get(aqi, host+host+key), "400 net/http"},
		"bad Host":               {get(aqi, "Host: a b\r\n"+key), "400 net/http"},
		"no request":             {"hello\r\n\r\n", "400 net/http"},
		"no version":             {get("GET /v1/aqi", host), "400 net/http"},
		"bad method":             {get("G(T /v1/aqi HTTP/1.1", host), "400 net/http"},
		"bad path":               {get("GET /%zz HTTP/1.1", host), "400 net/http"},
		"TLS at the wrong port":  {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", "400 net/http"},
		"HTTP/3.0":               {get("GET /v1/aqi HTTP/3.0", host), "505 net/http"},
		"blank in a header name": {get(aqi, host+"A b: c\r\n"), "400 net/http"},
		"no colon":               {get(aqi, host+"Abc\r\n"), "400 net/http"},
		"40 kB header":           {get(aqi, host+"X: "+strings.Repeat("x", 40_000)+"\r\n"), "431 net/http"},
		"1 MB request line":      {get("GET /"+strings.Repeat("x", 1_000_000)+" HTTP/1.1", host), "431 net/http"},
		"unknown expectation":    {post("Expect: a miracle\r\nContent-Length: 2\r\n"+typed, "{}"), "417 net/http"},

		"unknown expectation, 1.0": {"POST /v1/keys HTTP/1.0\r\n" + host + key + "Expect: a miracle\r\nContent-Length: 2\r\n" + typed + "\r\n{}", "417 net/http"},
		"one, and no request":      {get(aqi, host+key) + "hello\r\n\r\n", "200; 400 net/http"},
		"one, and a miracle":       {get(aqi, host+key) + post("Expect: a miracle\r\nContent-Length: 2\r\n"+typed, "{}"), "200; 417 net/http"},

		"a body":                     {post(typed+"Content-Length: 2\r\n", "{}"), "200"},
		"a body and the next":        {post(typed+"Content-Length: 2\r\n", "{}") + get(aqi, host+key), "200; 200"},
		"no body":                    {post("", ""), "200"},
		"no body, but a type":        {post(typed+"Content-Length: 0\r\n", ""), "200"},
		"chunked":                    {post(typed+"Transfer-Encoding: chunked\r\n", "1\r\n{\r\n1\r\n}\r\n0\r\n\r\n"), "200"},
		"chunked, empty":             {post("Transfer-Encoding: chunked\r\n", "0\r\n\r\n"), "200"},
		"chunked, without a type":    {post("Transfer-Encoding: chunked\r\n", "2\r\n{}\r\n0\r\n\r\n"), "415 unsupported_media_type Content-Type"},
		"chunked, bad size":          {post(typed+"Transfer-Encoding: chunked\r\n", "zz\r\n{}\r\n"), "400 invalid_request"},
		"chunked, cut off":           {post(typed+"Transfer-Encoding: chunked\r\n", "5\r\n{}"), "400 invalid_request"},
		"chunked and Content-Length": {post(typed+"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n", "2\r\n{}\r\n0\r\n\r\n"), "200"},
		"both lengths, and the next": {post(typed+"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n", "2\r\n{}\r\n0\r\n\r\n") + get(aqi, host+key), "200"},
		"both, the other way round":  {post(typed+"Transfer-Encoding: chunked\r\ncOnTeNt-LeNgTh:2\r\n", "2\r\n{}\r\n0\r\n\r\n") + get(aqi, host+key), "200"},
		"both in the second":         {get(aqi, host+key) + post(typed+"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n", "2\r\n{}\r\n0\r\n\r\n") + get(aqi, host+key), "200; 200"},
		"both at no path":            {strings.Replace(post("Content-Length: 2\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"), "/v1/keys", "/v1/x", 1) + get(aqi, host+key), "404 not_found"},
		"chunked, and the next":      {post(typed+"Transfer-Encoding: chunked\r\n", "2\r\n{}\r\n0\r\n\r\n") + get(aqi, host+key), "200; 200"},
		"unknown encoding":           {post(typed+"Transfer-Encoding: gzip\r\n", ""), "501 net/http"},
		"chunked twice":              {post(typed+"Transfer-Encoding: chunked, chunked\r\n", ""), "501 net/http"},
		"two lengths":                {post(typed+"Content-Length: 2\r\nContent-Length: 3\r\n", "{}"), "400 net/http"},
		"negative length":            {post(typed+"Content-Length: -2\r\n", "{}"), "400 net/http"},
		"no length":                  {post(typed+"Content-Length: two\r\n", "{}"), "400 net/http"},
		"cut off":                    {post(typed+"Content-Length: 9\r\n", "{}"), "400 invalid_request"},
		"100-continue":               {post(typed+"Expect: 100-continue\r\nContent-Length: 2\r\n", "{}"), "100; 200"},
		"100-continue, too large":    {post(typed+"Expect: 100-continue\r\n"+big, ""), "413 payload_too_large"},
		"no type":                    {post("Content-Length: 2\r\n", "{}"), "415 unsupported_media_type Content-Type"},
		"other type":                 {post("Content-Type: text/plain\r\nContent-Length: 2\r\n", "{}"), "415 unsupported_media_type Content-Type"},
		"two types":                  {post(typed+typed+"Content-Length: 2\r\n", "{}"), "415 unsupported_media_type Content-Type"},
		"with UTF-8":                 {post("Content-Type: Application/JSON; Charset=\"UTF-8\"\r\nContent-Length: 2\r\n", "{}"), "200"},
		"with a parameter":           {post("Content-Type: application/json;v=1\r\nContent-Length: 2\r\n", "{}"), "200"},
		"with UTF-16":                {post("Content-Type: application/json; charset=utf-16\r\nContent-Length: 2\r\n", "{}"), "415 unsupported_media_type Content-Type"},
		"a bad parameter":            {post("Content-Type: application/json; =\r\nContent-Length: 2\r\n", "{}"), "415 unsupported_media_type Content-Type"},
		"gzip":                       {post(typed+"Content-Encoding: gzip\r\nContent-Length: 2\r\n", "\x1f\x8b"), "415 unsupported_media_type Content-Encoding"},
		"identity":                   {post(typed+"Content-Encoding: identity\r\nContent-Length: 2\r\n", "{}"), "200"},
		"not JSON":                   {post(typed+"Content-Length: 3\r\n", "{,}"), "400 invalid_json"},
		"20 MiB promised":            {post(typed+big, ""), "413 payload_too_large"},
		"20 MiB":                     {post(typed+big, strings.Repeat("x", 20<<20)), "413 payload_too_large"},
		"20 MiB in chunks":           {post(typed+"Transfer-Encoding: chunked\r\n", "1400000\r\n"+strings.Repeat("x", 20<<20)+"\r\n0\r\n\r\n"), "413 payload_too_large"},
		"100 kB, then the next":      {post(typed+"Content-Length: 100000\r\n", strings.Repeat(" ", 100_000)) + get(aqi, host+key), "413 payload_too_large; 200"},
		"body on GET":                {get(aqi, host+key+typed+"Content-Length: 2\r\n") + "{}", "400 invalid_request"},
		"empty body on GET":          {get(aqi, host+key+"Content-Length: 0\r\n"), "200"},
		"chunked body on GET":        {get(aqi, host+key+"Transfer-Encoding: chunked\r\n") + "2\r\n{}\r\n0\r\n\r\n", "400 invalid_request"},
		"empty chunks on GET":        {get(aqi, host+key+"Transfer-Encoding: chunked\r\n") + "0\r\n\r\n", "200"},
		"body on DELETE":             {get("DELETE /v1/keys/k HTTP/1.1", host+key+typed+"Content-Length: 2\r\n") + "{}", "400 invalid_request"},
		"100,000 brackets":           {strings.Replace(post(typed+"Content-Length: 100000\r\n", strings.Repeat("[", 100_000)), "keys", "batch", 1), "400 invalid_json"},
	}
}
