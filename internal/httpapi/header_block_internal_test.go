package httpapi

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/httpapi/server"
	"vayu/schema"
)

// blockConn is a connection with one header block.
type blockConn struct{ block *server.HeaderBlock }

func (l blockConn) Begin() *server.HeaderBlock { return l.block }

// lateWriter adds a header to the reply at the worst moment: when the connection owns the block
// again.
type lateWriter struct {
	*httptest.ResponseRecorder
	x **exchange
}

func (w lateWriter) WriteHeader(status int) {
	(*w.x).constant("X-Late", []string{"1"})
	w.ResponseRecorder.WriteHeader(status)
}

// allowAll is an Access that admits every call as one with a key. NoLimits itself is the pass of calls without a key.
type allowAll struct{}

func (allowAll) Admit(*Call, *Route) (Pass, error) { return struct{ NoLimits }{}, nil }

func TestAHeadIsLeftAloneOnceTheReplyBegins(t *testing.T) {
	t.Parallel()
	var x *exchange
	seen := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }
	h, err := New(Config{
		Access: allowAll{}, Metrics: prometheus.NewRegistry(),
		Open: map[string]http.Handler{"/open": http.HandlerFunc(seen)},
		Routes: []Route{
			{Method: "GET", Path: "/good", Handler: func(*Call) (Response, error) { return Response{Value: 1}, nil }},
			{Method: "GET", Path: "/bad", Handler: func(*Call) (Response, error) { return Response{}, schema.NewProblem(schema.NoData, "", "no") }},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	rt := h.(*router)
	for _, path := range [...]string{"/open", "/good", "/bad", "/nowhere"} {
		w := lateWriter{httptest.NewRecorder(), &x}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)
		lent := &server.HeaderBlock{}
		r = r.WithContext(server.WithConn(t.Context(), blockConn{lent}))
		x = rt.newExchange(w, r)
		before := len(lent.String())
		rt.mux.ServeHTTP(x, r)
		// The Vary header of a route is decided before its reply begins.
		added := strings.TrimSuffix(lent.String()[before:], "Vary: Authorization\r\n")
		if before == 0 {
			t.Errorf("%s: the lines are empty before the reply", path)
		}
		if added != "" || w.Header().Get("X-Late") != "1" {
			t.Errorf("%s: the reply added the lines %q, map %v", path, added, w.Header())
		}
	}
}
