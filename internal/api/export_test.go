package api

import (
	"net"

	"github.com/prometheus/client_golang/prometheus"
)

// NewListenerOf is NewListener for plain HTTP with a limit of its own.
func NewListenerOf(l net.Listener, most int) (net.Listener, error) {
	return newListener(l, nil, prometheus.NewRegistry(), most)
}
