// Package httpapi is the HTTP layer that all endpoints share. It provides the route table, access,
// request ids, error bodies, conditional requests, compression and metrics. It has no domain logic.
// Package server has the listener and the HTTP server below this layer.
package httpapi

import (
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/gorilla/mux"
	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/httpapi/server"
	"vayu/internal/tracing"
	"vayu/schema"
)

// Version is the only version of the API so far.
const Version = "2026-11-01"

// SessionPrefix precedes the path of calls with a browser session. For example, /dashboard/v1/aqi is /v1/aqi
// with a session. Browsers send the session cookie only below this prefix, so paths below /v1 need a key.
const SessionPrefix = "/dashboard"

// Config holds the dependencies and settings of a router. Open maps paths to handlers that need no key, such as health
// and metrics. These paths accept only GET and HEAD. A path that ends with a slash includes all paths below it. If the
// handler of such a path is a Tree, the path includes only the paths that the Tree has.
type Config struct {
	Routes []Route
	Open   map[string]http.Handler
	// Proxies are the networks whose X-Forwarded-For is trusted, in the canonical form that config.Network returns.
	Proxies []netip.Prefix
	// Origins has, by account id, the origins of web pages that may read replies to requests with the account's keys.
	Origins map[string][]string
	Access  Access
	Log     *slog.Logger
	Trace   *tracing.Tracer // nil for none
	Metrics prometheus.Registerer
}

// Tree is a handler of Config.Open that serves only some of the paths below its own path. The router answers
// the other paths with 404.
type Tree interface {
	http.Handler
	// Has reports whether the handler serves a path.
	Has(path string) bool
}

// router is the handler of all requests. It finds the endpoint of a path, and handles errors and panics.
type router struct {
	mux          *mux.Router
	literalPaths map[string]*endpoint // paths without variables
	proxies      server.Proxies
	origin       *http.CrossOriginProtection // for calls with a session
	origins      origins                     // for calls with a key
	access       Access
	log          *slog.Logger
	trace        *tracing.Tracer
	metrics      *metrics
}

// New returns the handler of the whole API. It fails if two routes have the same method and path.
// It panics if a metric is already registered.
func New(c Config) (http.Handler, error) {
	m := newMetrics(c.Metrics)
	rt := &router{
		mux: mux.NewRouter().SkipClean(true), literalPaths: map[string]*endpoint{}, proxies: c.Proxies,
		origin: http.NewCrossOriginProtection(), origins: c.Origins, access: c.Access, log: c.Log, trace: c.Trace, metrics: m,
	}
	if rt.log == nil {
		rt.log = slog.New(slog.DiscardHandler)
	}
	paths := map[string]*endpoint{}
	for _, route := range c.Routes {
		e := paths[route.Path]
		if e == nil {
			e = &endpoint{router: rt, methods: map[string]*method{}}
			paths[route.Path] = e
			if strings.Contains(route.Path, "{") {
				rt.mux.Handle(route.Path, e)
			} else {
				rt.literalPaths[route.Path] = e
			}
		}
		if e.methods[route.Method] != nil {
			return nil, errors.New("route is there twice: " + route.Method + " " + route.Path)
		}
		e.methods[route.Method] = &method{Route: route, metrics: m.route(route.Method, route.Path)}
	}
	for _, e := range paths {
		if get := e.methods[http.MethodGet]; get != nil && e.methods[http.MethodHead] == nil {
			e.methods[http.MethodHead] = get
		}
		for name := range e.methods {
			e.allow = append(e.allow, name)
		}
		slices.Sort(e.allow)
	}
	for path, h := range c.Open {
		if strings.HasSuffix(path, "/") {
			rt.mux.PathPrefix(path).Handler(rt.readOnly(h))
			continue
		}
		rt.mux.Handle(path, rt.readOnly(h))
	}
	rt.mux.NotFoundHandler = http.HandlerFunc(rt.notFound)
	return rt, nil
}

// ServeHTTP implements http.Handler. It sets the common headers, recovers from panics and routes the request.
// Paths are matched literally: "//v1/aqi" and "/v1/aqi/" get 404. They are not redirected, because a redirect
// would drop the body of a POST.
func (rt *router) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := rt.newExchange(w, r)
	defer rt.recovered(x)
	if raw := r.URL.RawPath; raw != "" && (strings.Contains(raw, "%2f") || strings.Contains(raw, "%2F")) {
		rt.notFound(x, r) // an escaped slash would be part of a path variable, but no variable contains a slash
		return
	}
	if rest, ok := strings.CutPrefix(r.URL.Path, SessionPrefix+"/v1/"); ok {
		r = x.bySession("/v1/" + rest)
		if err := rt.origin.Check(r); err != nil {
			rt.metrics.foreign.Inc()
			rt.refuse(x, schema.NewProblem(schema.Forbidden, "", "Only pages of the dashboard can use a session."))
			return
		}
	}
	// A map finds a path without variables. The mux is slower: it tries routes one by one and copies the request.
	if e := rt.literalPaths[r.URL.Path]; e != nil {
		e.ServeHTTP(x, r)
		return
	}
	rt.mux.ServeHTTP(x, r)
}

// recovered answers a panic with status 500. It passes on a panic with http.ErrAbortHandler, which
// aborts the connection.
func (rt *router) recovered(x *exchange) {
	p := recover()
	if p == nil {
		return
	}
	if p == http.ErrAbortHandler { //nolint:errorlint // compared as net/http does
		x.end(http.StatusInternalServerError)
		panic(p)
	}
	rt.metrics.panics.Inc()
	r := x.call.Request
	rt.log.Error("panic", "request", x.call.ID, "path", pathOf(r), "panic", p, "stack", string(debug.Stack()))
	x.end(http.StatusInternalServerError)
	h := x.Header()
	for _, name := range [...]string{"Content-Encoding", "Content-Length", "Etag", "Last-Modified", "Location", "Idempotent-Replayed"} {
		delete(h, name)
	}
	rt.refuse(x, errPanic)
}

func (rt *router) notFound(w http.ResponseWriter, r *http.Request) {
	rt.metrics.unrouted.Inc()
	rt.refuse(w.(*exchange), schema.NewProblem(schema.NotFound, "", "This path does not exist."))
}

func (rt *router) refuseMethod(x *exchange, allow string) {
	p := schema.NewProblem(schema.MethodNotAllowed, "", "This path supports only "+allow+".")
	p.Allow = allow
	rt.metrics.unrouted.Inc()
	rt.refuse(x, p)
}

// readOnly restricts an open handler (one that needs no key) to GET and HEAD, and a Tree to the paths that it has.
func (rt *router) readOnly(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			rt.refuseMethod(w.(*exchange), "GET, HEAD")
			return
		}
		if tree, ok := h.(Tree); ok && !tree.Has(r.URL.Path) {
			rt.notFound(w, r)
			return
		}
		h.ServeHTTP(w.(*exchange).begin(), r)
	})
}
