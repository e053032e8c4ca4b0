// Package apidoc shows the contract of the HTTP API, schema.OpenAPI, to
// programs at /openapi.json and to people at /docs. Both are made once, and need
// nothing from anywhere else.
package apidoc

import (
	"net/http"
	"time"

	"vayu/internal/httpapi"
	"vayu/schema"
)

// New makes the handlers of /openapi.json and /docs, by path. They need no key:
// hand them to httpapi.Config.Open. They answer GET and HEAD, whatever the method:
// refusing the others is the router's part.
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
	program, err := kept(document, "application/json")
	if err != nil {
		return nil, err
	}
	people, err := kept(html, "text/html; charset=utf-8")
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

// kept serves a body that clients keep, and ask whether it is still the same.
func kept(body []byte, typed string) (http.Handler, error) {
	resp := httpapi.Ready(body, time.Time{})
	resp.Type, resp.Cache = []string{typed}, []string{"no-cache"}
	return httpapi.Static(resp)
}
