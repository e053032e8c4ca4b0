package server

import (
	"net"

	"github.com/prometheus/client_golang/prometheus"
)

// NewListenerOf is NewListener for plain HTTP with a limit of all connections.
func NewListenerOf(l net.Listener, reg prometheus.Registerer, most int, limits Connections) net.Listener {
	limits.most = most
	return NewListener(l, nil, reg, limits)
}
