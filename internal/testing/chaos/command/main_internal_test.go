package main

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// Ctrl-C ends `up` without an error. Other commands fail, because an interrupted CI run has proved nothing.
// Other errors are reported in both cases.
func TestInterruptedRunFails(t *testing.T) {
	t.Parallel()
	interrupted := fmt.Errorf("waiting: %w", context.Canceled)
	left := errors.New("ending kafka: exit status 1")
	for _, try := range []struct {
		action string
		err    error
		want   string // empty for status 0
	}{
		{"up", nil, ""},
		{"up", interrupted, ""},
		{"up", errors.Join(interrupted, nil), ""},
		{"up", errors.Join(interrupted, left), "ending kafka: exit status 1"},
		{"up", fmt.Errorf("stopping: %w", errors.Join(interrupted, left)), "ending kafka: exit status 1"},
		{"up", left, "ending kafka: exit status 1"},
		{"faults", nil, ""},
		{"faults", interrupted, "interrupted"},
		{"partitions", errors.Join(interrupted, left), "interrupted\nending kafka: exit status 1"},
		{"faults", errNotHeld, errNotHeld.Error()},
	} {
		got := ""
		if err := outcome(try.action, try.err); err != nil {
			got = err.Error()
		}
		if got != try.want {
			t.Errorf("%s, %v: got %q, want %q", try.action, try.err, got, try.want)
		}
	}
}
