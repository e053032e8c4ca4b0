package httpapi

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Limits of a connection. A client that sends its header too slowly is cut off after readHeader.
// The longest query (100 city names in Hindi, percent-encoded) has about 10 KB.
const (
	readHeader = 5 * time.Second
	readAll    = 30 * time.Second
	writeAll   = 60 * time.Second
	idle       = 120 * time.Second
	maxHeader  = 32 << 10
	// An idle connection takes 20 KiB, so maxConnections take 320 MiB.
	maxConnections = 16 << 10
)

// NewServer returns an HTTP server for the handler with limits against slow and oversized clients.
// Serve it with a listener of [NewListener].
func NewServer(h http.Handler, log *slog.Logger) *http.Server {
	s := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: readHeader,
		ReadTimeout:       readAll,
		WriteTimeout:      writeAll,
		IdleTimeout:       idle,
		MaxHeaderBytes:    maxHeader,
		// "OPTIONS *" is handled like other requests.
		DisableGeneralOptionsHandler: true,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			if c, ok := c.(interface{ begin() *headerBlock }); ok {
				return withConn(ctx, c)
			}
			return ctx
		},
		// A connection is idle from the end of a reply to the next request.
		ConnState: func(c net.Conn, state http.ConnState) {
			if limited := limitedOf(c); limited != nil && (state == http.StateActive || state == http.StateIdle) {
				limited.uses(state == http.StateActive)
			}
			if c, ok := c.(interface{ end() }); ok && state == http.StateIdle {
				c.end()
			}
		},
	}
	if log != nil {
		s.ErrorLog = slog.NewLogLogger(log.Handler(), slog.LevelDebug)
	}
	return s
}
