// Package apidoc serves the contract of the HTTP API, schema.OpenAPI, as one document at /openapi.json. The
// dashboard has the page /docs, which renders it.
package apidoc

import (
	"net/http"
	"time"

	"vayu/internal/httpapi"
)

// New returns a map from the path /openapi.json to its handler, as httpapi.Config.Open needs it. Requests need no key.
// The router admits only GET and HEAD. Clients may cache the document if they revalidate it for each use.
func New() (map[string]http.Handler, error) {
	document, err := Document()
	if err != nil {
		return nil, err
	}
	resp := httpapi.Ready(document, time.Time{})
	resp.Cache = []string{"no-cache"}
	return map[string]http.Handler{"/openapi.json": httpapi.Static(resp)}, nil
}
