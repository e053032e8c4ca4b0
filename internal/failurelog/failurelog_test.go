package failurelog_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/failurelog"
)

func TestFailureAndRecoveryAreLoggedOnce(t *testing.T) {
	t.Parallel()
	var output bytes.Buffer
	count := prometheus.NewCounter(prometheus.CounterOpts{Name: "failures_total", Help: "Failures."})
	o := failurelog.New(slog.New(slog.NewTextHandler(&output, nil)), "the store", "reading", "requests fail", count)
	ended, end := context.WithCancel(t.Context())
	end()
	errUnavailable := errors.New("unavailable")
	for _, try := range []struct {
		ctx     context.Context
		err     error
		failing bool
		lines   int // logged so far
	}{
		{t.Context(), nil, false, 0},
		{t.Context(), errUnavailable, true, 1},
		{t.Context(), errUnavailable, true, 1},
		{ended, errUnavailable, true, 1},
		{t.Context(), nil, false, 2},
		{t.Context(), nil, false, 2},
		{ended, errUnavailable, false, 2},
		{t.Context(), errUnavailable, true, 3},
	} {
		o.Observe(try.ctx, try.err)
		if lines := strings.Count(output.String(), "\n"); o.Failing() != try.failing || lines != try.lines {
			t.Errorf("after %v failing is %v, with %d lines; want %v and %d", try.err, o.Failing(), lines, try.failing, try.lines)
		}
	}
	reg := prometheus.NewRegistry()
	reg.MustRegister(count)
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	if got := families[0].GetMetric()[0].GetCounter().GetValue(); got != 3 {
		t.Errorf("counted %v failures, want 3", got)
	}
}
