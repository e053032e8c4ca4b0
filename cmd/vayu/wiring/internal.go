package wiring

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"vayu/internal/lifecycle"
)

// internalHandler returns the handler of the endpoints for operators: health, detailed readiness, metrics and profiles.
func (s *Service) internalHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", healthy)
	mux.Handle("GET /readyz", s.readiness())
	mux.Handle("GET /metrics", promhttp.HandlerFor(s.metrics, promhttp.HandlerOpts{Registry: s.metrics}))
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return mux
}

// listenInternal opens the internal listener. It returns nil if the service has none. If the default address cannot be
// opened, listenInternal only logs a warning, because the operator has not chosen that address.
func (s *Service) listenInternal(ctx context.Context) (net.Listener, error) {
	address, chosen := s.InternalAddress()
	if address == "" {
		return nil, nil
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	switch {
	case err == nil:
		return l, nil
	case chosen:
		return nil, fmt.Errorf("listening on %s (internal-listen): %w", address, err)
	}
	s.log.Warn("metrics are not served: set internal-listen to a free address", "address", address, "error", err)
	return nil, nil
}

// Time limits of the internal listener. There is no limit for writing a reply, because a profile takes as
// long as its request specifies.
const (
	internalHeader = 5 * time.Second
	internalDrain  = time.Second
)

// internalPart returns the part of the service's lifecycle that serves the internal listener over HTTP.
func (s *Service) internalPart(listener net.Listener) lifecycle.Part {
	return lifecycle.Part{Name: "internal", Drain: internalDrain + time.Second, Run: func(ctx context.Context) error {
		s.log.Info("serving metrics", "address", "http://"+listener.Addr().String())
		server := &http.Server{Handler: s.internalHandler(), ReadHeaderTimeout: internalHeader}
		stopped := make(chan error, 1)
		stop := context.AfterFunc(ctx, func() {
			limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), internalDrain)
			defer cancel()
			_ = server.Shutdown(limit)
			stopped <- server.Close() // ends a profile in progress
		})
		defer stop()
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serving metrics: %w", err)
		}
		return <-stopped
	}}
}
