package main

import (
	"log/slog"
	"os"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/lifecycle"
	"vayu/internal/tracing"
)

// newTrace creates the tracer, nil when traces are off. Host name and process id
// identify an instance.
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

// tracePart exports spans. It starts first and ends last, so that the spans of the last
// requests are exported.
func (s *service) tracePart() lifecycle.Part { return lifecycle.Part{Name: "traces", Run: s.trace.Run} }
