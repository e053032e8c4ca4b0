package accesstest

import (
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"vayu/internal/httpapi"
	"vayu/internal/httpapi/httpapitest"
	"vayu/internal/httpapi/server"
	"vayu/schema"
)

// Client sends requests to the endpoints of a test, and checks every reply against the API's description.
type Client struct {
	tb      testing.TB
	handler http.Handler
}

// NewClient returns a client of a new router that serves routes.
func NewClient(tb testing.TB, access httpapi.Access, routes []httpapi.Route) Client {
	tb.Helper()
	h, err := httpapi.New(httpapi.Config{Routes: routes, Access: access})
	if err != nil {
		tb.Fatal(err)
	}
	return ClientOf(tb, h)
}

// ClientOf returns a client of a router.
func ClientOf(tb testing.TB, router http.Handler) Client {
	tb.Helper()
	return Client{tb, httpapitest.Checked(tb, router)}
}

// Reply is the reply of the router to one request.
type Reply struct {
	Status int
	Header http.Header
	Text   string
	Body   map[string]any // the decoded text, if it is JSON
}

// Do sends a request. A body that is not empty is sent as JSON. The parameter `header` alternates between names and
// values. If `key` is empty, the request has no Authorization header.
func (c Client) Do(key, method, path, body string, header ...string) Reply {
	c.tb.Helper()
	r := httptest.NewRequest(method, path, http.NoBody)
	if body != "" {
		r = httptest.NewRequest(method, path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	c.handler.ServeHTTP(w, r)
	out := Reply{Status: w.Code, Header: w.Header(), Text: w.Body.String()}
	if w.Header().Get("Content-Type") == "application/json" {
		if err := json.Unmarshal(w.Body.Bytes(), &out.Body); err != nil {
			c.tb.Errorf("%s %s: %v: %s", method, path, err, out.Text)
		}
	}
	return out
}

// At returns a value of the JSON body by its path, such as data.id. The value is nil if the path does not exist.
func (r Reply) At(path string) any {
	var v any = r.Body
	for name := range strings.SplitSeq(path, ".") {
		object, _ := v.(map[string]any)
		v = object[name]
	}
	return v
}

// TextAt returns a string of the JSON body by its path, or "" if the path has no string.
func (r Reply) TextAt(path string) string {
	text, _ := r.At(path).(string)
	return text
}

// Want stops the test unless the reply has this status.
func (r Reply) Want(tb testing.TB, what string, status int) Reply {
	tb.Helper()
	if r.Status != status {
		tb.Fatalf("%s: got %d %s, want %d", what, r.Status, r.Text, status)
	}
	return r
}

// WantError fails the test unless the reply is an error with this status, code and field.
func (r Reply) WantError(tb testing.TB, what string, status int, code schema.Code, field string) {
	tb.Helper()
	if r.Status != status {
		tb.Errorf("%s: got %d %s, want %d", what, r.Status, r.Text, status)
	}
	if got := r.TextAt("error.code"); got != string(code) {
		tb.Errorf("%s: got the code %q, want %q: %s", what, got, code, r.Text)
	}
	if got := r.TextAt("error.field"); got != field {
		tb.Errorf("%s: got the field %q, want %q: %s", what, got, field, r.Text)
	}
}

// WantProblem stops the test unless the error is a problem with this code and field.
func WantProblem(tb testing.TB, err error, code schema.Code, field string) *schema.Problem {
	tb.Helper()
	p, ok := errors.AsType[*schema.Problem](err)
	if !ok || p.Code != code || p.Field != field {
		tb.Fatalf("got %v, want %s about %q", err, code, field)
	}
	return p
}

// Serve serves routes over a real listener until the test ends, and returns the URL.
func Serve(tb testing.TB, access httpapi.Access, routes []httpapi.Route) (url string) {
	tb.Helper()
	h, err := httpapi.New(httpapi.Config{Routes: routes, Access: access})
	if err != nil {
		tb.Fatal(err)
	}
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	listener := server.NewListener(socket, nil, nil, server.Connections{})
	s := server.New(h, nil)
	go func() { _ = s.Serve(listener) }() // Serve returns when s is closed
	tb.Cleanup(func() { _ = s.Close() })
	return "http://" + socket.Addr().String()
}
