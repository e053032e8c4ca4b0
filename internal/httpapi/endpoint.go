package httpapi

import (
	"log/slog"
	"net/http"
	"strings"
	"time"

	"vayu/schema"
)

// endpoint holds the methods of one path.
type endpoint struct {
	router  *router
	methods map[string]*method
	allow   []string
}

type method struct {
	Route
	metrics *routeMetrics
}

// ServeHTTP implements http.Handler.
func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := w.(*exchange) // always the writer that router.ServeHTTP has passed on
	x.call.Request = r
	m := e.methods[r.Method]
	if m == nil {
		get := e.methods[http.MethodGet]
		if !e.router.origins.preflight(x, get != nil && get.NoAuth) {
			e.router.refuseMethod(x, strings.Join(e.allow, ", "))
		}
		return
	}
	done := m.metrics.start()
	status := http.StatusInternalServerError
	defer func() { done.end(status) }()
	if e.router.trace == nil {
		status = e.router.answer(x, m)
	} else {
		status = e.router.traced(x, m)
	}
	if e.router.log.Enabled(r.Context(), slog.LevelDebug) {
		e.router.log.Debug("request", "request", x.call.ID, "method", r.Method, "path", pathOf(r), "status", status,
			"world", x.call.World.String(), "key", x.call.Key, "session", x.call.Session, "took", time.Since(done.began))
	}
}

// answer admits a request, reads its body, runs its handler and writes the reply.
func (rt *router) answer(x *exchange, m *method) (status int) {
	c := &x.call
	c.Count, c.Class = 1, m.Limit
	if c.BySession && m.Limit == Calls {
		c.Class = Viewing
	}
	pass, err := rt.admit(c, &m.Route)
	x.pass, c.pass = pass, pass
	if c.World == schema.Sandbox && c.Key != "" {
		x.constant("X-SERVICE-Mode", sandboxMode)
	}
	rt.varyBy(x, &m.Route)
	rt.origins.allow(x)
	var resp Response
	if err == nil {
		resp, err = rt.handle(x, m, pass)
	}
	if err == nil {
		err = resp.render()
	}
	if err != nil {
		return rt.refuse(x, err)
	}
	x.end(resp.Status)
	x.limits()
	x.age(&resp)
	rt.finalize(c, &resp)
	if resp.Stream != nil {
		return rt.stream(x.begin(), c, &resp)
	}
	return write(x.begin(), c.Request, &resp)
}

// admit calls Access.Admit, unless the endpoint needs no key.
func (rt *router) admit(c *Call, route *Route) (Pass, error) {
	if route.NoAuth {
		return noLimits{}, nil
	}
	return rt.access.Admit(c, route)
}

// noLimits is the Pass (admission) of calls that need no key. It checks and counts nothing.
type noLimits struct{}

// Verify accepts every request. It implements [Pass].
func (noLimits) Verify(*Call) error { return nil }

// Reserve always succeeds. It implements [Pass].
func (noLimits) Reserve(*Call, int64) error { return nil }

// End does nothing. It implements [Pass].
func (noLimits) End(*Call, int) {}

// handle checks the headers of an admitted call, reads its body, verifies its signature and serves it.
func (rt *router) handle(x *exchange, m *method, pass Pass) (Response, error) {
	c := &x.call
	if err := acceptable(c.Request, m.Type); err != nil {
		return Response{}, err
	}
	if err := c.readBody(x.ResponseWriter, &m.Route); err != nil {
		return Response{}, err
	}
	if err := pass.Verify(c); err != nil {
		return Response{}, err
	}
	return m.Serve(c)
}

// finalize adapts a reply to its request. If the client used TLS, the reply's cookie becomes Secure. For a
// browser session, the reply's Location gets SessionPrefix.
func (rt *router) finalize(c *Call, resp *Response) {
	if resp.Cookie != nil && rt.proxies.Secure(c.Request) {
		cookie := *resp.Cookie //nolint:gosec // gosec misses the next line
		cookie.Secure = true
		resp.Cookie = &cookie
	}
	if c.BySession && strings.HasPrefix(resp.Location, "/v1/") {
		resp.Location = SessionPrefix + resp.Location
	}
}
