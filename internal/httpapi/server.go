package httpapi

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Limits of a connection. They cut off slow clients. The longest legitimate header has a query of about 10 KB:
// 100 city names in Hindi, percent-encoded.
const (
	readHeader = 5 * time.Second
	readAll    = 30 * time.Second
	writeAll   = 60 * time.Second
	idle       = 120 * time.Second
	maxHeader  = 32 << 10
	// An idle connection needs 20 KiB of memory, so maxConnections need 320 MiB.
	maxConnections = 16 << 10
)

// NewServer returns an HTTP server for h with limits on the time and size of requests. Serve it with a listener
// of [NewListener].
func NewServer(h http.Handler, log *slog.Logger) *http.Server {
	s := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: readHeader,
		ReadTimeout:       readAll,
		WriteTimeout:      writeAll,
		IdleTimeout:       idle,
		MaxHeaderBytes:    maxHeader,
		// The router answers "OPTIONS *" like other requests, not net/http.
		DisableGeneralOptionsHandler: true,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			if c, ok := c.(interface{ begin() *headerBlock }); ok {
				return withConn(ctx, c)
			}
			return ctx
		},
		// The listener closes idle connections first: those between the end of a reply and the next request.
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
