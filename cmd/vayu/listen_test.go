package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"vayu/cmd/vayu/settings"
)

func TestListenRejectsInvalidFlags(t *testing.T) {
	t.Setenv(settings.KeyVariable, "")
	for args, want := range map[string]string{
		"--answer 99":                       "answer 99",
		"--port 70000":                      "port 70000",
		"--delay -1s":                       "delay -1s",
		"--events quota.warning":            "give --key or " + settings.KeyVariable,
		"--api http://127.0.0.1":            "give --key or " + settings.KeyVariable,
		"--key k --api nowhere":             "nowhere",
		"--key k --api http://vayu.example": "use https",
	} {
		root := newRoot()
		root.SetArgs(append([]string{"listen", "--data", t.TempDir()}, strings.Fields(args)...))
		root.SetOut(new(bytes.Buffer))
		if err := root.ExecuteContext(context.Background()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", args, err, want)
		}
	}
}

// SIGHUP stops a command gracefully; nohup disables it.
func TestHangupStopsCommandUnlessIgnored(t *testing.T) {
	t.Parallel()
	if os.Getenv("VAYU_TEST_ENDINGS") != "" {
		t.Skipf("endings: %v", stopSignals())
	}
	// The test process may run under nohup.
	stops := !signal.Ignored(syscall.SIGHUP)
	for shell, want := range map[string]bool{`exec "$0" "$@"`: stops, `trap '' HUP; exec "$0" "$@"`: false} {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", shell, os.Args[0], "-test.run=^TestHangupStopsCommandUnlessIgnored$", "-test.v")
		cmd.Env = append(os.Environ(), "VAYU_TEST_ENDINGS=1")
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "endings: [interrupt terminated") {
			t.Fatalf("%v: %s", err, out)
		}
		if got := strings.Contains(string(out), "hangup"); got != want {
			t.Errorf("%s: got %v: %s", shell, got, out)
		}
	}
}
