//go:build integration

package main

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"

	proto "go.opentelemetry.io/proto/otlp/trace/v1"

	"vayu/internal/tracing/tracingtest"
)

// traceSteps are the steps of the trace of a sandbox recharge, from its request to the
// acknowledgement of its webhook.
var traceSteps = []string{"POST /v1/recharge", "state change", "operator call", "event relay", "delivery store", "delivery attempt"}

// A recharge over HTTP is one trace to its webhook, and no secret is in it.
func TestIntegrationARechargeIsOneTraceToItsWebhook(t *testing.T) {
	t.Parallel()
	c := tracingtest.New(t)
	r := receive(t, nil)
	s := serve(t, t.TempDir(), r.flags("--trace-endpoint", c.URL)...)
	if out, err := vayu(t, s.data, "wallet", "credit", "--mode", "sandbox", "--amount", "5000", "--note", "bank transfer"); err != nil {
		t.Fatalf("crediting the wallet: %v\n%s", err, out)
	}
	s.subscribe(s.sandbox, r, "/hook", `"recharge.completed"`)
	const number = "9876543210"
	made := s.send(http.MethodPost, s.sandbox, "/v1/recharge",
		`{"ref_id":"trace-1","type":"prepaid","mobile":"`+number+`","operator":"Jio","amount":199}`, "X-Request-Id", "req-of-the-trace")
	if made.status != http.StatusOK && made.status != http.StatusAccepted {
		t.Fatalf("recharging: %d %s", made.status, made.raw)
	}
	verified := s.send(http.MethodPost, s.sandbox, "/v1/bank/verify", `{"account_number":"000123456789","ifsc":"HDFC0000001","name":"Asha Rao"}`)
	if verified.status >= http.StatusBadRequest {
		t.Fatalf("verifying: %d %s", verified.status, verified.raw)
	}
	r.wait("the webhook", func(all []received) bool { return len(all) == 1 })
	var root *proto.Span
	all := c.Wait("all steps", func(all []*proto.Span) bool {
		root = nil
		for _, span := range all {
			if tracingtest.Value(span, "vayu.request") == "req-of-the-trace" {
				root = span
			}
		}
		return root != nil && len(missing(all, root)) == 0 && has(all, "bank call")
	})
	for _, span := range all {
		if span.GetName() == "delivery attempt" && bytes.Equal(span.GetTraceId(), root.GetTraceId()) {
			if got := tracingtest.Value(span, "vayu.stage") + " " + tracingtest.Value(span, "http.response.status_code"); got != "status int_value:200" && !strings.Contains(got, "200") {
				t.Errorf("the attempt ended with %s", got)
			}
		}
	}
	if got := tracingtest.Value(root, "http.route"); got != "/v1/recharge" {
		t.Errorf("the route is %q", got)
	}
	text := c.Text()
	for what, secret := range map[string]string{
		"key": s.sandbox, "mobile number": number, "account number": "123456789", "name": "Asha", "ref_id": "trace-1",
		"webhook secret": r.secrets[0], "receiver's address": strings.TrimPrefix(r.URL, "https://"),
	} {
		for form, written := range map[string]string{"text": secret, "hex": hex.EncodeToString([]byte(secret)), "base64": base64.StdEncoding.EncodeToString([]byte(secret))} {
			if strings.Contains(text, written) {
				t.Errorf("the %s is in a span, as %s", what, form)
			}
		}
	}
	if metrics := s.get("", "/metrics").raw; !strings.Contains(metrics, `vayu_trace_spans_total{result="dropped"} 0`) {
		t.Error("spans were dropped")
	}
}

// missing returns the steps that are not in the trace of root.
func missing(all []*proto.Span, root *proto.Span) (names []string) {
	for _, name := range traceSteps {
		found := false
		for _, span := range all {
			found = found || span.GetName() == name && bytes.Equal(span.GetTraceId(), root.GetTraceId())
		}
		if !found {
			names = append(names, name)
		}
	}
	return names
}

func has(all []*proto.Span, name string) bool {
	for _, span := range all {
		if span.GetName() == name {
			return true
		}
	}
	return false
}
