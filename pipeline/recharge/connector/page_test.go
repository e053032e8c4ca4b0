package connector_test

import (
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vayu/internal/testing/providers"
	"vayu/pipeline/recharge/connector"
	"vayu/pipeline/recharge/order"
	"vayu/schema"
)

const page = "../../../docs/operators.md"

// The example of the page works with its file.
func TestPageExample(t *testing.T) {
	_, js := providers.Blocks(t, page, "js")
	_, yaml := providers.Blocks(t, page, "yaml")
	if len(js) != 1 || len(yaml) != 2 {
		t.Fatalf("the page has %d programs and %d files", len(js), len(yaml))
	}
	if lines := strings.Count(js[0], "\n"); lines > 40 {
		t.Errorf("the aggregator has %d lines", lines)
	}
	t.Setenv("ACME_KEY", "a-key-of-acme")
	url := providers.Start(t, js[0])
	c := open(t, strings.Replace(yaml[0], "http://127.0.0.1:9090", url, 1), nil)
	for number, want := range map[string]order.Answer{
		"9812345678": {Outcome: order.Succeeded},
		"9812345672": {Outcome: order.Pending},
		"9812345674": {Outcome: order.Failed, Code: schema.InvalidNumber},
	} {
		o := sampleOrder
		o.Reference, o.Number = "txn_"+number, number
		if a, err := c.Operator.Enquire(t.Context(), o); err != nil || a.Outcome != order.Unknown {
			t.Errorf("%s before it was sent: got %v, %v", number, a, err)
		}
		for range 2 {
			if a, err := c.Operator.Submit(t.Context(), o); err != nil || a != want {
				t.Errorf("%s: got %v, %v, want %v", number, a, err, want)
			}
		}
		if a, err := c.Operator.Enquire(t.Context(), o); err != nil || a != want {
			t.Errorf("%s afterwards: got %v, %v, want %v", number, a, err, want)
		}
	}
	t.Setenv("ACME_KEY", "another")
	c = open(t, strings.Replace(yaml[0], "http://127.0.0.1:9090", url, 1), nil)
	a, err := c.Operator.Submit(t.Context(), sampleOrder)
	wantOutcome(t, "with another key", a, err, lost)
}

// The file with every key is valid.
func TestPageFullFile(t *testing.T) {
	t.Setenv("BHARAT_CLIENT", "c")
	t.Setenv("BHARAT_SECRET", "0123456789")
	_, yaml := providers.Blocks(t, page, "yaml")
	file := write(t, yaml[1])
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(filepath.Join(filepath.Dir(file), "bharat-ca.pem"), ca, 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := connector.Open(file, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case c.Name != "bharat-pay":
		t.Errorf("c.Name = %q, want \"bharat-pay\"", c.Name)
	case len(c.Operators) != 3:
		t.Errorf("len(c.Operators) = %v, want 3", len(c.Operators))
	case c.Receiver == nil:
		t.Error("c.Receiver is nil")
	case c.Reverser == nil:
		t.Error("c.Reverser is nil")
	case c.Directory == nil:
		t.Error("c.Directory is nil")
	}
}

// The page documents every key, field and status. The errors of a file with unknown names
// list them.
func TestPageIsComplete(t *testing.T) {
	t.Parallel()
	text, _ := providers.Blocks(t, page, "yaml")
	const strange = `
x: 1
auth: {x: 1, header: {x: 1}, basic: {x: 1}, hmac: {x: 1, over: "{x}"}}
breaker: {x: 1}
calls:
  x: 1
  submit: {x: 1, path: "/{x}", by-http: {404: {x: 1}}, answer: {x: 1, status: {x: 1, values: {x: x}}, code: {path: x, values: {x: x}}}}
  enquire: {answer: {status: {path: x, values: {x: x}}}}
  refund: {answer: {status: {path: x, values: {x: x}}}}
  detect: {x: 1, path: "/{x}", answer: {x: 1, status: {path: x, values: {x: x}}}}
  plans: {x: 1, path: "/{x}", answer: {x: 1}}
callback: {x: 1, signature: {x: 1}, answer: {x: 1}}
recharge: {x: 1}
`
	for _, word := range providers.MissingKeys(t, text, connector.Check(write(t, strange)), 60) {
		t.Errorf("%q is not on the page", word)
	}
}
