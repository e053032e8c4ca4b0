// Package server accepts the connections of the API. It has the HTTP server with time-outs, and a listener that limits
// connections. It also provides TLS certificates and determines the client's address.
package server

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Limits of a connection. The time limits disconnect slow clients. maxHeader leaves room for the longest
// legitimate header, with a query of about 10 KB: 100 city names in Hindi, percent-encoded.
const (
	headerTimeout = 5 * time.Second
	// ReadTimeout limits the time to read a whole request, including its body.
	ReadTimeout = 30 * time.Second
	// WriteTimeout limits the time for a reply, or for a piece of a stream.
	WriteTimeout = 60 * time.Second

	idle      = 120 * time.Second
	maxHeader = 32 << 10
	// maxConnections limits the open connections. An idle connection needs 20 KiB of memory, so 16,384 need 320 MiB.
	maxConnections = 16 << 10
)

// New returns an HTTP server for h with limits on the time and size of requests. Serve it with a listener
// of [NewListener].
func New(h http.Handler, log *slog.Logger) *http.Server {
	s := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       ReadTimeout,
		WriteTimeout:      WriteTimeout,
		IdleTimeout:       idle,
		MaxHeaderBytes:    maxHeader,
		// With this setting, the router and not net/http answers "OPTIONS *".
		DisableGeneralOptionsHandler: true,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			if c, ok := c.(interface{ Begin() *HeaderBlock }); ok {
				return WithConn(ctx, c)
			}
			return ctx
		},
		// The listener needs to know which connections are idle, because it closes an idle connection to
		// make room. A connection is idle between the end of a reply and the next request.
		ConnState: func(c net.Conn, state http.ConnState) {
			if limited := limitedOf(c); limited != nil && (state == http.StateActive || state == http.StateIdle) {
				limited.uses(state == http.StateActive)
			}
		},
	}
	if log != nil {
		s.ErrorLog = slog.NewLogLogger(log.Handler(), slog.LevelDebug)
	}
	return s
}
