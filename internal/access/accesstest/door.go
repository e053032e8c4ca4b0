package accesstest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"vayu/internal/httpapi"
	"vayu/internal/httpapi/httpapitest"
	"vayu/schema"
)

// Door answers requests with some routes, and compares every reply with the
// contract.
type Door struct {
	tb      testing.TB
	handler http.Handler
}

// NewDoor puts a router in front of routes.
func NewDoor(tb testing.TB, access httpapi.Access, routes []httpapi.Route) Door {
	tb.Helper()
	h, err := httpapi.New(httpapi.Config{Routes: routes, Access: access})
	if err != nil {
		tb.Fatal(err)
	}
	return Door{tb, httpapitest.Checked(tb, h)}
}

// Reply is what came back.
type Reply struct {
	Status int
	Header http.Header
	Text   string
	Body   map[string]any // of one JSON object
}

// Ask sends a request, with a JSON body unless it is empty; header are names and
// values in turn. Without a key there is no Authorization.
func (d Door) Ask(key, method, path, body string, header ...string) Reply {
	d.tb.Helper()
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
	d.handler.ServeHTTP(w, r)
	out := Reply{Status: w.Code, Header: w.Header(), Text: w.Body.String()}
	if w.Header().Get("Content-Type") == "application/json" {
		if err := json.Unmarshal(w.Body.Bytes(), &out.Body); err != nil {
			d.tb.Errorf("%s %s: %v: %s", method, path, err, out.Text)
		}
	}
	return out
}

// At is a value of the body by its path, such as data.id; nil when there is none.
func (r Reply) At(path string) any {
	var v any = r.Body
	for name := range strings.SplitSeq(path, ".") {
		object, _ := v.(map[string]any)
		v = object[name]
	}
	return v
}

// Said is a text of the body by its path; "" when there is none.
func (r Reply) Said(path string) string {
	text, _ := r.At(path).(string)
	return text
}

// Want demands a status.
func (r Reply) Want(tb testing.TB, what string, status int) Reply {
	tb.Helper()
	if r.Status != status {
		tb.Fatalf("%s: got %d %s, want %d", what, r.Status, r.Text, status)
	}
	return r
}

// WantError demands a refusal.
func (r Reply) WantError(tb testing.TB, what string, status int, code schema.Code, field string) {
	tb.Helper()
	if r.Status != status || r.Said("error.code") != string(code) || r.Said("error.field") != field {
		tb.Errorf("%s: got %d %s, want %d %s %s", what, r.Status, r.Text, status, code, field)
	}
}
