package httpapi

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/schema"
)

// lender is a connection that lends one head.
type lender struct{ lent *headerBlock }

func (l lender) begin() *headerBlock { return l.lent }

// thief is a client's end that adds a header to the reply of an exchange at the
// worst moment: when the head is the connection's again.
type thief struct {
	*httptest.ResponseRecorder
	x **exchange
}

func (w thief) WriteHeader(status int) {
	(*w.x).constant("X-Late", []string{"1"})
	w.ResponseRecorder.WriteHeader(status)
}

// anybody is an Access and a Pass that lets everybody in.
type anybody struct{}

func (anybody) Admit(*Call, *Route) (Pass, error) { return anybody{}, nil }
func (anybody) Verify(*Call) error                { return nil }
func (anybody) Reserve(*Call, int64) error        { return nil }
func (anybody) End(*Call, int)                    {}

func TestAHeadIsLeftAloneOnceTheReplyBegins(t *testing.T) {
	t.Parallel()
	var x *exchange
	seen := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }
	h, err := New(Config{
		Access: anybody{}, Metrics: prometheus.NewRegistry(),
		Open: map[string]http.Handler{"/open": http.HandlerFunc(seen)},
		Routes: []Route{
			{Method: "GET", Path: "/good", Handler: func(*Call) (Response, error) { return Response{Value: 1}, nil }},
			{Method: "GET", Path: "/bad", Handler: func(*Call) (Response, error) { return Response{}, schema.Refuse(schema.NoData, "", "no") }},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	rt := h.(*router)
	for _, path := range [...]string{"/open", "/good", "/bad", "/nowhere"} {
		w := thief{httptest.NewRecorder(), &x}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)
		lent := &headerBlock{}
		r = r.WithContext(withConn(t.Context(), lender{lent}))
		x = rt.newExchange(w, r)
		before := len(lent.lines)
		rt.mux.ServeHTTP(x, r)
		// What a route depends on is known before its reply begins.
		added := strings.TrimSuffix(string(lent.lines[before:]), "Vary: Authorization\r\n")
		if before == 0 || added != "" || w.Header().Get("X-Late") != "1" {
			t.Errorf("%s: lines %q, map %v", path, lent.lines, w.Header())
		}
	}
}
