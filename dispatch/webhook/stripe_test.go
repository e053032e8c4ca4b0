package webhook_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	stripe "github.com/stripe/stripe-go/v84/webhook"

	"vayu/dispatch/webhook"
)

// The signature has the form of Stripe's, so that receivers find a library in their
// language. These libraries read the real clock. (ConstructEvent of the Go library
// requires fields that only Stripe's events have.)
func TestStripeForGoAccepts(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for _, header := range []string{webhook.Sign(event, now, secret), webhook.Sign(event, now, secret, other), webhook.Sign(event, now, other, secret)} {
		if err := stripe.ValidatePayload(event, header, secret); err != nil {
			t.Errorf("%s: %v", header, err)
		}
	}
	if err := stripe.ValidatePayload(event, webhook.Sign(event, now, other), secret); err == nil {
		t.Error("it takes everything")
	}
	theirs := stripe.GenerateTestSignedPayload(&stripe.UnsignedPayload{Payload: event, Secret: secret, Timestamp: noon})
	if got, want := webhook.Sign(event, noon, secret), theirs.Header; got != want {
		t.Errorf("got %s, Stripe signs %s", got, want)
	}
	if err := webhook.Verify(event, theirs.Header, noon, secret); err != nil {
		t.Errorf("what Stripe signs: %v", err)
	}
}

// TestStripeForNodeAccepts runs testdata/stripe.mjs with the stripe of node_modules.
func TestStripeForNodeAccepts(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err == nil {
		_, err = os.Stat(filepath.Join("..", "..", "node_modules", "stripe"))
	}
	if err != nil {
		skipMissing(t, "node and stripe (npm ci)", err)
	}
	type signed struct {
		Body   []byte `json:"body"`
		Header string `json:"header"`
		Secret string `json:"secret"`
	}
	now := time.Now()
	in, err := json.Marshal([]signed{
		{event, webhook.Sign(event, now, secret), secret},
		{event, webhook.Sign(event, now, secret, other), secret},
		{event, webhook.Sign(event, now, other, secret), secret},
		{event, webhook.Sign(event, now, other), secret},
		{event, webhook.Sign(event, now.Add(-time.Hour), secret), secret},
	})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), node, filepath.Join("testdata", "stripe.mjs"))
	var stderr strings.Builder
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, stderr.String())
	}
	const id, refused = "evt_01KAJ6V7C0N5Z2V5YB9E1WQ3RT", "StripeSignatureVerificationError"
	if diff := cmp.Diff([]string{id, id, id, refused, refused}, strings.Fields(string(out))); diff != "" {
		t.Error(diff)
	}
}

// skipMissing skips a test on a machine that lacks something, and fails it in CI.
func skipMissing(t *testing.T, what string, err error) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s: %v", what, err)
	}
	t.Skipf("%s: %v", what, err)
}
