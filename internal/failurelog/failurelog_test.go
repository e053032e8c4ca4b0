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

func TestAnOutageIsSaidOnceAndEndsOnce(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	count := prometheus.NewCounter(prometheus.CounterOpts{Name: "failures_total", Help: "Failures."})
	o := failurelog.New(slog.New(slog.NewTextHandler(&said, nil)), "the store", "looking", "nothing is known", count)
	ended, end := context.WithCancel(t.Context())
	end()
	away := errors.New("away")
	for _, try := range []struct {
		ctx  context.Context
		err  error
		on   bool
		says int // lines so far
	}{
		{t.Context(), nil, false, 0},
		{t.Context(), away, true, 1},
		{t.Context(), away, true, 1},
		{ended, away, true, 1},
		{t.Context(), nil, false, 2},
		{t.Context(), nil, false, 2},
		{ended, away, false, 2},
		{t.Context(), away, true, 3},
	} {
		o.Tell(try.ctx, try.err)
		if lines := strings.Count(said.String(), "\n"); o.On() != try.on || lines != try.says {
			t.Errorf("after %v it is on: %v, with %d lines; want %v and %d", try.err, o.On(), lines, try.on, try.says)
		}
	}
	reg := prometheus.NewRegistry()
	reg.MustRegister(count)
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	if got := families[0].GetMetric()[0].GetCounter().GetValue(); got != 3 {
		t.Errorf("%v failures are counted, want 3", got)
	}
}
