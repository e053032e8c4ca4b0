package httpapi

import (
	"net/http"
	"strings"
	"testing"
)

func FuzzRefusal(f *testing.F) {
	const headers = "\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"
	f.Add([]byte("HTTP/1.1 400 Bad Request: no" + headers + "400 Bad Request: no"))
	f.Add([]byte("HTTP/1.1 501 Not Implemented" + headers + "Unsupported transfer encoding"))
	f.Add([]byte("HTTP/1.0 417 Expectation Failed\r\nConnection: close\r\nDate: " + http.TimeFormat + "\r\nContent-Length: 0\r\n\r\n"))
	f.Fuzz(func(t *testing.T, p []byte) {
		status, text, ok := parseServerError(p)
		if !ok {
			return
		}
		whole := string(p)
		if status != http.StatusExpectationFailed && (!strings.Contains(whole, headers) || !strings.Contains(whole, text)) {
			t.Errorf("%q is %d, %q", p, status, text)
		}
		if _, _, ok := parseServerError(append(p, 'x')); ok {
			t.Errorf("%q is one, and is one when it is longer", p)
		}
		if reply := string(errorReply(status, text, false)); strings.Count(reply, "\r\n\r\n") != 1 {
			t.Errorf("%q becomes %q", p, reply)
		}
	})
}
