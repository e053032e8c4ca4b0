package main

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// Ctrl-C is no fault of `up`, and of every other command it is one: a run that CI ends
// has proved nothing. What went wrong beside it is said in any case.
func TestAnInterruptedRunHasFailed(t *testing.T) {
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
