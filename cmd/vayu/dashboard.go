package main

import (
	"maps"
	"net/http"

	"vayu/internal/apidoc"
	"vayu/internal/dashboard"
)

// pages returns the public pages that are made once: the contract and the dashboard.
func pages() (map[string]http.Handler, error) {
	open, err := apidoc.New()
	if err != nil {
		return nil, err
	}
	page, err := dashboard.New()
	if err != nil {
		return nil, err
	}
	maps.Copy(open, page)
	return open, nil
}
