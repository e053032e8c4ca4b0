package api

import (
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"

	"github.com/gorilla/mux"
	"github.com/prometheus/client_golang/prometheus"

	"vayu/schema"
)

// Version is the API version of replies, and so far the only one.
const Version = "2026-11-01"

// Call is one authenticated request on its way through a handler.
type Call struct {
	*http.Request
	Principal
	ID string // the request id
}

// Handler answers a call. A *schema.Problem is the client's answer; every other
// error is logged and answered as internal_error.
type Handler func(*Call) (Response, error)

// Route is one line of the table of routes. Scope is what the key must hold.
type Route struct {
	Method  string
	Path    string // a gorilla/mux template
	Scope   string
	Handler Handler
}

// Config is what a router is made of. Open holds handlers that need no key
// (health, metrics), by path.
type Config struct {
	Routes  []Route
	Open    map[string]http.Handler
	Access  Authenticator
	Log     *slog.Logger
	Metrics prometheus.Registerer
}

// router is the outermost handler.
type router struct {
	mux     *mux.Router
	access  Authenticator
	log     *slog.Logger
	metrics *metrics
}

// New returns the handler of the whole API. It fails when a route is there
// twice or a metric is registered already.
func New(c Config) (http.Handler, error) {
	m, err := newMetrics(c.Metrics)
	if err != nil {
		return nil, err
	}
	rt := &router{mux: mux.NewRouter().SkipClean(true), access: c.Access, log: c.Log, metrics: m}
	if rt.log == nil {
		rt.log = slog.New(slog.DiscardHandler)
	}
	paths := map[string]*endpoint{}
	for _, route := range c.Routes {
		e := paths[route.Path]
		if e == nil {
			e = &endpoint{router: rt, methods: map[string]*method{}}
			paths[route.Path] = e
			rt.mux.Handle(route.Path, e)
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
		rt.mux.Handle(path, h)
	}
	rt.mux.NotFoundHandler = http.HandlerFunc(rt.notFound)
	return rt, nil
}

// ServeHTTP implements http.Handler: headers of every reply, panics, routing.
// Paths are matched as they are: "//v1/aqi" and "/v1/aqi/" are not found
// instead of redirected, because a redirect would drop a POST's body.
func (rt *router) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := requestID(r)
	h := w.Header()
	h["X-Request-Id"] = []string{id}
	h["X-SERVICE-Version"] = version
	h["X-Content-Type-Options"] = noSniff
	h["Content-Security-Policy"] = contentPolicy
	defer rt.recovered(w, r, id)
	rt.mux.ServeHTTP(w, r)
}

// recovered turns a panic into a 500; net/http's own way to abort is let by.
func (rt *router) recovered(w http.ResponseWriter, r *http.Request, id string) {
	p := recover()
	if p == nil {
		return
	}
	if p == http.ErrAbortHandler { //nolint:errorlint // compared as net/http does
		panic(p)
	}
	rt.metrics.panics.Inc()
	rt.log.Error("panic", "request", id, "path", r.URL.Path, "panic", p, "stack", stack())
	h := w.Header()
	for _, name := range [...]string{"Content-Encoding", "Content-Length", "Etag", "Last-Modified"} {
		delete(h, name)
	}
	rt.refuse(w, r, id, errPanic)
}

func (rt *router) notFound(w http.ResponseWriter, r *http.Request) {
	rt.metrics.unrouted.Inc()
	rt.refuse(w, r, w.Header()["X-Request-Id"][0],
		schema.Refuse(schema.NotFound, "", "There is nothing at this path."))
}

// endpoint is all methods of one path.
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
	m := e.methods[r.Method]
	id := w.Header()["X-Request-Id"][0]
	if m == nil {
		p := schema.Refuse(schema.MethodNotAllowed, "", "This path takes "+strings.Join(e.allow, ", ")+" only.")
		p.Allow = strings.Join(e.allow, ", ")
		e.router.metrics.unrouted.Inc()
		e.router.refuse(w, r, id, p)
		return
	}
	done := m.metrics.start()
	status := http.StatusInternalServerError
	defer func() { done.end(status) }()
	resp, err := e.router.call(w, r, id, m)
	if err == nil {
		status, err = write(w, r, &resp)
	}
	if err != nil {
		status = e.router.refuse(w, r, id, err)
	}
}

// call passes one request through access and version to its handler.
func (rt *router) call(w http.ResponseWriter, r *http.Request, id string, m *method) (Response, error) {
	who, err := rt.access.Authenticate(r, m.Scope)
	if err != nil {
		return Response{}, err
	}
	if who.World == schema.Sandbox {
		w.Header()["X-SERVICE-Mode"] = sandboxMode
	}
	if err := acceptable(r); err != nil {
		return Response{}, err
	}
	return m.Handler(&Call{Request: r, Principal: who, ID: id})
}

// acceptable checks the headers with which a client chooses a version and a
// form of the reply.
func acceptable(r *http.Request) error {
	if asked, ok := r.Header["X-Service-Version"]; ok && (len(asked) != 1 || asked[0] != Version) {
		return schema.Refuse(schema.UnknownVersion, "X-SERVICE-Version", "The only version is "+Version+".")
	}
	accept := r.Header["Accept"]
	if len(accept) == 0 {
		return nil
	}
	for _, list := range accept {
		if strings.Contains(list, "*/*") || strings.Contains(list, "application/json") ||
			strings.Contains(list, "application/*") || strings.TrimSpace(list) == "" {
			return nil
		}
	}
	return schema.Refuse(schema.NotAcceptable, "Accept", "Replies are application/json.")
}
