package main

import (
	"log/slog"
	"os"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/lifecycle"
	"vayu/internal/tracing"
)

// newTrace makes the tracer, nil when traces are off. An instance is told from others
// by its machine and its process.
func (s *service) newTrace(cfg Config, log *slog.Logger, reg prometheus.Registerer) (err error) {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	s.trace, err = tracing.New(tracing.Config{
		Settings: cfg.Trace, Version: version(), Instance: host + "/" + strconv.Itoa(os.Getpid()), Log: log, Metrics: reg,
	})
	return err
}

// tracePart sends spans. It starts first and ends last: those of the last requests are
// sent, too.
func (s *service) tracePart() lifecycle.Part { return lifecycle.Part{Name: "traces", Run: s.trace.Run} }
