package ops

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/cmd/vayu/settings"
	"vayu/dispatch/devreceiver"
	"vayu/schema"
)

// A key of the environment makes the subscription, and is not printed.
func TestListenTakesItsKeyFromTheEnvironment(t *testing.T) {
	t.Setenv(settings.KeyVariable, "sk_test_1")
	cmd := NewListen()
	got := listenRequest{port: 1, events: []string{"quota.warning", " payment.failed"}}.config(cmd, settings.Defaults()).Client
	want := &devreceiver.Client{
		API: "http://127.0.0.1:8080", Key: "sk_test_1", KeyShown: "$" + settings.KeyVariable, Test: true,
		Events: []schema.EventType{schema.EventQuotaWarning, schema.EventPaymentFailed},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	got = listenRequest{noTest: true, key: "sk_test_2", api: "https://vayu.example"}.config(cmd, settings.Defaults()).Client
	if diff := cmp.Diff(&devreceiver.Client{API: "https://vayu.example", Key: "sk_test_2", KeyShown: "sk_test_2"}, got); diff != "" {
		t.Errorf("a flag comes before the environment:\n%s", diff)
	}
	t.Setenv(settings.KeyVariable, "")
	if got := (listenRequest{}).config(cmd, settings.Defaults()).Client; got != nil {
		t.Errorf("without a key: %v", got)
	}
}

// Unverified requests are refused, unless --answer sets the status.
func TestListenAnswersUnverifiedWith400(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]bool{"": true, "--answer 200": false, "--answer 500": false} {
		cmd := NewListen()
		if err := cmd.ParseFlags(strings.Fields(args)); err != nil {
			t.Fatal(err)
		}
		if got := (listenRequest{}).config(cmd, settings.Defaults()).Strict; got != want {
			t.Errorf("%q: got %v", args, got)
		}
	}
}
