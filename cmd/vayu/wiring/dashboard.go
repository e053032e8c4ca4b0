package wiring

import (
	"maps"
	"net/http"

	"vayu/internal/apidoc"
	"vayu/internal/dashboard"
)

// pages returns the handlers of the dashboard and the API documentation, by path. They require no API key.
func pages() (map[string]http.Handler, error) {
	page, err := dashboard.New()
	if err != nil {
		return nil, err
	}
	open := apidoc.New()
	maps.Copy(open, page)
	return open, nil
}
