package httpapi_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/httpapi"
)

// forgeries returns net/http's own error replies, byte for byte, and near misses.
func forgeries() []string {
	const headers = "\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"
	const failed = "HTTP/1.1 417 Expectation Failed\r\nConnection: close\r\nDate: Sat, 21 Nov 2026 04:43:28 GMT\r\nContent-Length: 0\r\n\r\n"
	return []string{
		"HTTP/1.1 400 Bad Request" + headers + "400 Bad Request",
		"HTTP/1.1 400 Bad Request: missing required Host header" + headers + "400 Bad Request: missing required Host header",
		"HTTP/1.1 431 Request Header Fields Too Large" + headers + "431 Request Header Fields Too Large",
		"HTTP/1.1 501 Not Implemented" + headers + "Unsupported transfer encoding",
		failed,
		strings.Replace(failed, "HTTP/1.1", "HTTP/1.0", 1),
		"HTTP/1.1 417 \r\n" + strings.Repeat("x", 5000),
		"HTTP/1.1 200 OK\r\nX: y\r\n\r\n",
	}
}

// TestABodyIsNeverTakenForARefusal: if net/http's buffer ends inside a body, the next write begins
// with arbitrary bytes of it.
func TestABodyIsNeverTakenForARefusal(t *testing.T) {
	t.Parallel()
	texts := forgeries()
	h, err := httpapi.New(httpapi.Config{Access: testAccess(), Metrics: prometheus.NewRegistry(), Routes: []httpapi.Route{{
		Method: "GET", Path: "/v1/aqi", Handler: func(c *httpapi.Call) (httpapi.Response, error) {
			var which, pad, tail int
			if _, err := fmt.Sscanf(c.URL.RawQuery, "%d-%d-%d", &which, &pad, &tail); err != nil {
				return httpapi.Response{}, fmt.Errorf("reading the question: %w", err)
			}
			before, text := strings.Repeat("x", pad), texts[which]
			resp := httpapi.Response{Body: []byte(before + text)}
			if tail == 1 {
				resp = httpapi.Response{Body: []byte(before), Tail: [][]byte{[]byte(text)}, Length: []string{strconv.Itoa(pad + len(text))}}
			}
			return resp, nil
		},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	reg := prometheus.NewRegistry()
	c := dial(t, serve(t, h, func(l net.Listener) net.Listener {
		wrapped, err := httpapi.NewListener(l, nil, reg, httpapi.Connections{})
		if err != nil {
			t.Fatal(err)
		}
		return wrapped
	}))
	defer c.Close()
	in := bufio.NewReader(c)
	ask := func(which, pad, tail int) {
		t.Helper()
		_, err := fmt.Fprintf(c, "GET /v1/aqi?%d-%d-%d HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\n\r\n", which, pad, tail, liveKey)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if want := strings.Repeat("x", pad) + texts[which]; err != nil || resp.StatusCode != http.StatusOK || string(body) != want {
			t.Fatalf("%q behind %d bytes became %d %q, %v", texts[which], pad, resp.StatusCode, body[min(pad, len(body)):], err)
		}
	}
	for which := range texts {
		// Net/http's part of the header takes 100 to 400 bytes of the buffer.
		for edge := 4096; edge <= 12288; edge += 4096 {
			for pad := edge - 400; pad <= edge; pad++ {
				ask(which, pad, 0)
				ask(which, pad, 1)
			}
		}
		ask(which, 0, 0)
	}
	if n := value(t, reg, "vayu_http_malformed_total"); n != 0 {
		t.Errorf("%v of them were counted as refusals", n)
	}
}
