package runner_test

import (
	"testing"

	"vayu/ingest/runner"
)

func TestASourceOnAnotherInstanceIsNoFault(t *testing.T) {
	t.Parallel()
	if ok, text := new(runner.Status).Finding("file"); !ok {
		t.Errorf("got the fault %q, want none", text)
	}
	failed := runner.Status{Outcome: runner.TimedOut, Refused: []string{"gate_failed"}}
	want := "cpcb: timed_out, refused for gate_failed (it answers too slowly: vayu source test cpcb shows how slowly)"
	if ok, text := failed.Finding("cpcb"); ok || text != want {
		t.Errorf("got %v, %q, want a fault %q", ok, text, want)
	}
}
