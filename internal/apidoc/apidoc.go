// Package apidoc serves the contract of the HTTP API, schema.OpenAPI, as one document at /openapi.json. The
// dashboard has the page /docs, which renders it.
package apidoc

import (
	"net/http"
	"sync"
	"time"

	"vayu/internal/httpapi"
)

// New returns a map from the path /openapi.json to its handler, as httpapi.Config.Open needs it. Requests need no key.
// The router admits only GET and HEAD. Clients may cache the document if they revalidate it for each use. The first
// request makes the document from schema.OpenAPI. New returns no error: the contract is part of the program, and the
// handler panics if it is invalid.
func New() map[string]http.Handler {
	// The first request makes the document. At the start, it would take half of the processor time of wiring.New.
	made := sync.OnceValue(func() http.Handler {
		document, err := Document()
		if err != nil {
			panic(err) // a test makes the same document, so an invalid contract fails the test
		}
		resp := httpapi.Ready(document, time.Time{})
		resp.Cache = []string{"no-cache"}
		return httpapi.Static(resp)
	})
	return map[string]http.Handler{"/openapi.json": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { made().ServeHTTP(w, r) })}
}
