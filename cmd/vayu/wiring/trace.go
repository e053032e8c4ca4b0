package wiring

import (
	"log/slog"
	"os"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/cmd/vayu/settings"
	"vayu/internal/lifecycle"
	"vayu/internal/tracing"
)

// newTrace creates the tracer, or nil if traces are off. Traces name this instance by host name and process id.
func (s *Service) newTrace(cfg settings.Config, log *slog.Logger, reg prometheus.Registerer) (err error) {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	s.trace, err = tracing.New(tracing.Config{
		Settings: cfg.Trace, Version: settings.Version(), Instance: host + "/" + strconv.Itoa(os.Getpid()), Log: log, Metrics: reg,
	})
	return err
}

// tracePart returns the part that exports spans (timed steps of traces). It starts first and stops last, so
// that it can export the spans of the last requests.
func (s *Service) tracePart() lifecycle.Part { return lifecycle.Part{Name: "traces", Run: s.trace.Run} }
