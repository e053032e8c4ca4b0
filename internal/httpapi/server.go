package httpapi

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Limits of a connection. A client that sends its header at a byte a second is
// cut off after readHeader; the longest question (100 city names in Hindi,
// percent-encoded) has about 10 KB.
const (
	readHeader = 5 * time.Second
	readAll    = 30 * time.Second
	writeAll   = 60 * time.Second
	idle       = 120 * time.Second
	maxHeader  = 32 << 10
	// maxConnections at 20 KiB each, which is what an idle one costs, are 320 MiB.
	maxConnections = 16 << 10
)

// NewServer returns an HTTP server for the handler with limits against slow and
// oversized clients. It serves what a listener of [NewListener] accepts; it
// listens nowhere yet.
func NewServer(h http.Handler, log *slog.Logger) *http.Server {
	s := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: readHeader,
		ReadTimeout:       readAll,
		WriteTimeout:      writeAll,
		IdleTimeout:       idle,
		MaxHeaderBytes:    maxHeader,
		// "OPTIONS *" is a request like others.
		DisableGeneralOptionsHandler: true,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			if c, ok := c.(interface{ begin() *head }); ok {
				return withConn(ctx, c)
			}
			return ctx
		},
		// It is idle between the last byte of a reply and the next request.
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
