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

	"github.com/google/go-cmp/cmp"

	"vayu/dispatch/devreceiver"
	"vayu/internal/httpapi/server"
	"vayu/schema"
)

func TestListenFindsTheServiceNearby(t *testing.T) {
	t.Parallel()
	for listens, want := range map[string]string{
		"127.0.0.1:8080": "http://127.0.0.1:8080",
		":9000":          "http://127.0.0.1:9000",
		"0.0.0.0:9000":   "http://127.0.0.1:9000",
		"[::]:9000":      "http://127.0.0.1:9000",
		"[::1]:9000":     "http://[::1]:9000",
		"localhost:9000": "http://localhost:9000",
	} {
		cfg := defaults()
		if err := cfg.Listen.UnmarshalText([]byte(listens)); err != nil {
			t.Fatal(err)
		}
		if got := localURL(cfg); got != want {
			t.Errorf("%s: got %s, want %s", listens, got, want)
		}
		cfg.TLS = server.TLSConfig{Cert: "cert.pem", Key: "key.pem"}
		if got, want := localURL(cfg), strings.Replace(want, "http:", "https:", 1); got != want {
			t.Errorf("%s with TLS: got %s, want %s", listens, got, want)
		}
	}
}

// A key of the environment makes the subscription, and is not printed.
func TestListenTakesItsKeyFromTheEnvironment(t *testing.T) {
	t.Setenv(keyVariable, "sk_test_1")
	cmd := newListen()
	got := listenRequest{port: 1, events: []string{"quota.warning", " payment.failed"}}.config(cmd, defaults()).Client
	want := &devreceiver.Client{
		API: "http://127.0.0.1:8080", Key: "sk_test_1", KeyShown: "$" + keyVariable, Test: true,
		Events: []schema.EventType{schema.EventQuotaWarning, schema.EventPaymentFailed},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	got = listenRequest{noTest: true, key: "sk_test_2", api: "https://vayu.example"}.config(cmd, defaults()).Client
	if diff := cmp.Diff(&devreceiver.Client{API: "https://vayu.example", Key: "sk_test_2", KeyShown: "sk_test_2"}, got); diff != "" {
		t.Errorf("a flag comes before the environment:\n%s", diff)
	}
	t.Setenv(keyVariable, "")
	if got := (listenRequest{}).config(cmd, defaults()).Client; got != nil {
		t.Errorf("without a key: %v", got)
	}
}

func TestListenRejectsInvalidFlags(t *testing.T) {
	t.Setenv(keyVariable, "")
	for args, want := range map[string]string{
		"--answer 99":                       "answer 99",
		"--port 70000":                      "port 70000",
		"--delay -1s":                       "delay -1s",
		"--events quota.warning":            "give --key or " + keyVariable,
		"--api http://127.0.0.1":            "give --key or " + keyVariable,
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

// Unverified requests are refused, unless --answer sets the status.
func TestListenAnswersUnverifiedWith400(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]bool{"": true, "--answer 200": false, "--answer 500": false} {
		cmd := newListen()
		if err := cmd.ParseFlags(strings.Fields(args)); err != nil {
			t.Fatal(err)
		}
		if got := (listenRequest{}).config(cmd, defaults()).Strict; got != want {
			t.Errorf("%q: got %v", args, got)
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
