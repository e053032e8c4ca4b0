// Package apidoc serves the contract of the HTTP API, schema.OpenAPI, as /openapi.json for programs and /docs
// for people. Both are built when the service starts. The page loads nothing from other hosts.
package apidoc

import (
	"net/http"
	"time"

	"vayu/internal/httpapi"
	"vayu/schema"
)

// New returns the handlers of /openapi.json and /docs, by path, for httpapi.Config.Open. They need no key. The
// router admits only GET and HEAD, so they do not check the method.
func New() (map[string]http.Handler, error) {
	document, err := Document()
	if err != nil {
		return nil, err
	}
	tree, err := bundle(schema.OpenAPI)
	if err != nil {
		return nil, err
	}
	html, policy, err := render(tree)
	if err != nil {
		return nil, err
	}
	program, err := cacheable(document, "application/json")
	if err != nil {
		return nil, err
	}
	people, err := cacheable(html, "text/html; charset=utf-8")
	if err != nil {
		return nil, err
	}
	guarded := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		people.ServeHTTP(w, r)
	})
	return map[string]http.Handler{"/openapi.json": program, "/docs": guarded}, nil
}

// cacheable returns a handler that serves body. Clients may cache the body if they revalidate it for each use.
func cacheable(body []byte, typed string) (http.Handler, error) {
	resp := httpapi.Ready(body, time.Time{})
	resp.Type, resp.Cache = []string{typed}, []string{"no-cache"}
	return httpapi.Static(resp)
}
