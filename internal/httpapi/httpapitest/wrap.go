package httpapitest

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"testing"
)

// Checked returns a handler that passes requests to h and checks every reply with [Check]:
//
//	h, err := api.New(…)
//	server := httptest.NewServer(httpapitest.Checked(t, h))
//
// The test must close the server before the test ends. In a benchmark, Checked returns h. Checked does not see the
// headers that a connection of server.NewListener adds. With such a listener, use [Transport] instead.
func Checked(tb testing.TB, h http.Handler) http.Handler {
	tb.Helper()
	if _, ok := tb.(*testing.B); ok {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := &recorder{ResponseWriter: w}
		// A handler may change the request, but Check needs the original.
		at := *r.URL
		original := &http.Request{Method: r.Method, URL: &at}
		h.ServeHTTP(rec, r)
		if rec.status == 0 { // the handler wrote nothing, which is an empty 200
			rec.WriteHeader(http.StatusOK)
		}
		Check(tb, original, &http.Response{StatusCode: rec.status, Header: rec.header}, rec.body.Bytes())
	})
}

// recorder records the reply that a handler writes, and passes it on.
type recorder struct {
	http.ResponseWriter
	status int
	header http.Header // copy of the header when it was sent
	body   bytes.Buffer
}

// Unwrap returns the underlying ResponseWriter. http.ResponseController calls it.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// WriteHeader records the status and the headers. It implements http.ResponseWriter.
func (r *recorder) WriteHeader(status int) {
	if r.status == 0 && status >= http.StatusOK {
		r.status, r.header = status, r.Header().Clone()
	}
	r.ResponseWriter.WriteHeader(status)
}

// Write records part of the body. It implements http.ResponseWriter.
func (r *recorder) Write(p []byte) (int, error) {
	if r.status == 0 {
		r.WriteHeader(http.StatusOK)
	}
	r.body.Write(p)
	return r.ResponseWriter.Write(p)
}

// Transport returns a transport that passes requests to base and checks every reply with [Check]. A nil base means
// http.DefaultTransport. The transport reads each reply to its end, so do not use it for endless streams.
func Transport(tb testing.TB, base http.RoundTripper) http.RoundTripper {
	tb.Helper()
	if base == nil {
		base = http.DefaultTransport
	}
	return transport{tb, base}
}

type transport struct {
	tb   testing.TB
	base http.RoundTripper
}

// RoundTrip checks the reply, after it has read the whole body. It implements http.RoundTripper.
func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	t.tb.Helper()
	resp, err := t.base.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		return nil, err
	}
	Check(t.tb, req, resp, body)
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}
