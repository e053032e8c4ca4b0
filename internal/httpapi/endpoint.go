package httpapi

import (
	"log/slog"
	"net/http"
	"strings"
	"time"
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
